// The launch walk: from bindings to kernel arguments, grids, parts of launches and repetitions, written once
// for everything that launches. What does not depend on the call is worked out once, so that a launch costs a
// few microseconds of host time.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/executable/bindings.h"
#include "compiler/executable/executable.h"
#include "compiler/executable/footprint.h"
#include "compiler/executable/launch_sink.h"
#include "compiler/executable/workspace.h"

namespace rondo::executable {

class Launcher {
 public:
  // Errors: those of check().
  static Result<Launcher> make(const Executable& executable);

  // Bytes of workspace for B batch rows of T steps: the kernels' own, what launches leave for each other, a
  // zeroed region that stands for tensors read but not bound, and a region where unwanted results go. It
  // never wraps: for sizes that no memory holds it is more than any allocator gives, and launch() refuses
  // them.
  std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const;
  const std::vector<Tensor>& tensors() const { return tensors_; }
  // Where a launch with this workspace leaves its tensor of Role::Report, fp32 numbers (convergence.h); none
  // if its kernels do not iterate.
  struct Region {
    Address pointer = 0;
    std::int64_t bytes = 0;
  };
  std::optional<Region> report(Address workspace, std::int64_t batch, std::int64_t time) const;

  // Where kernels say that they have waited in vain; not set: nowhere.
  void set_status(Address word) { status_ = word; }

  // Whether some launches run once a time step, or until a condition holds.
  bool repeats() const;
  // How often a kernel is started at most for B batch rows of T steps, in parts where not all rows fit at
  // once.
  std::int64_t starts(std::int64_t batch, std::int64_t time) const;

  // Whether B and T are within what a launch takes. Error Input.
  Status check_sizes(std::int64_t batch, std::int64_t time) const;

  // Checks the bindings and passes every launch to `sink`, in order. Allocates nothing unless a check fails.
  // Errors (Input) name tensor, value and limit; nothing is launched then. Among them: no two steps of a
  // written tensor may share memory, and no other bound tensor, nor the workspace, may share memory with it,
  // because kernels take it that they do not; in place is no exception. Tensors that are only read may share
  // theirs. Calls from several threads are independent. B and T may be 0: then no launch is passed. The last
  // state is the first one, as their gradients are each other's, and gradients of parameters are zero;
  // tensors without an element need no memory.
  Status launch(LaunchSink& sink, const Bindings& bindings, std::int64_t batch, std::int64_t time) const;
  // The checks alone.
  Status check_call(const Bindings& bindings, std::int64_t batch, std::int64_t time) const;

 private:
  struct Place {
    Address pointer = 0;
    Strides strides;
    std::optional<Footprint> footprint;  // of a tensor that the caller bound
  };
  struct Call {
    Address workspace = 0;
    std::optional<std::int64_t> workspace_bytes;  // as bound
    std::int64_t workspace_used = 0;              // up to where something lies
    std::int64_t batch = 1, time = 1;
    Workspace regions;
    bool zero_needed = false;
  };

  // Checks a call, and says where its tensors lie.
  Status place_all(const Bindings& bindings, Call& call, std::span<Place> places) const;
  Status place_of_nothing(const Bindings& bindings, Call& call, std::span<Place> places) const;
  Status answer_nothing(LaunchSink& sink, std::span<const Place> places, const Call& call) const;
  Status find_workspace(const Bindings& bindings, Call& call) const;
  Status place(std::size_t tensor, const Bindings& bindings, Call& call, Place& place) const;
  // Of a tensor that lies in a result whose place is `result`.
  Place place_in(const Tensor& tensor, const Place& result, const Call& call) const;
  Status place_in_workspace(const Tensor& tensor, std::int64_t offset, std::int64_t bytes, Call& call,
                            Place& place) const;
  Status check_place(const Tensor& tensor, const Place& place, const Call& call) const;
  Status check_stride(const Tensor& tensor, const char* axis, std::int64_t stride) const;
  // Whether all that the tensor's strides reach lies in its memory, and apart from itself; notes what it is.
  Status check_reach(const Tensor& tensor, const Binding& bound, const Call& call, Place& place) const;
  // Whether what is written lies apart from all else.
  Status check_apart(std::span<const Place> places, const Call& call) const;
  // Starts the launches [first, end) as often as their repetition says.
  Status run_section(LaunchSink& sink, std::size_t first, std::size_t end, std::span<const Place> places,
                     const Call& call) const;
  // Starts a launch once, in parts if not all batch tiles may run at once.
  Status start(LaunchSink& sink, std::size_t index, std::span<const Place> places, const Call& call,
               std::int64_t step) const;

  std::string plan_name_;  // for messages
  std::vector<Tensor> tensors_;
  std::vector<Launch> launches_;
  WorkspaceRule workspace_;
  std::bitset<kMaxTensors> from_end_;  // by tensor: is_walked_from_end()
  Address status_ = 0;
};

}  // namespace rondo::executable
