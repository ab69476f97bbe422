// From bindings to kernel arguments: the part of a plan that needs no GPU. Everything that does not depend on
// the call is worked out once, so that a launch costs a few microseconds of host time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "runtime/plan/bindings.h"

namespace rondo::runtime {

// Who carries launches out: the driver, or a test that writes them down.
class LaunchSink {
 public:
  virtual ~LaunchSink() = default;
  // Zeroes `bytes` at `pointer`, ordered before the launches that follow.
  virtual Status zero(DeviceAddress pointer, std::int64_t bytes) = 0;
  // Launches kernel `index` of the plan with `blocks` blocks; arguments[i] points to the value of its i-th
  // parameter, as wide as that parameter, and is valid during the call.
  virtual Status launch(std::size_t index, std::int64_t blocks, std::span<void* const> arguments) = 0;
};

// A tensor that a plan's kernels read or write.
struct PlanTensor {
  schedule::TensorRef ref;
  std::string name;  // as in emitted code and in messages: "x", "grad_x", "h_first"
  bool timed = false;
  bool wide = false;  // read or written by vectors: must have the plan's alignment
  bool written = false;
  Need need = Need::Required;
  int element_bytes = 4;
  std::int64_t unit = 0;  // unit_elements()
};

class PlanArguments {
 public:
  // Error Unsupported: a step of a tensor passes 2^31 - 1 elements; Internal: the plan contradicts itself.
  static Result<PlanArguments> make(const step::Cell& cell, const schedule::Problem& problem,
                                    const schedule::KernelPlan& plan);

  // Bytes of workspace for B batch rows of T steps: the kernels' own, what launches leave for each other, a
  // zeroed region that stands for tensors read but not bound, and a region where unwanted results go.
  std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const;
  const std::vector<PlanTensor>& tensors() const { return tensors_; }

  // Where kernels say that they have waited in vain (kernel::Kernel::status); not set: nowhere.
  void set_status(DeviceAddress word) { status_ = word; }

  // Whether some launches run once a time step.
  bool has_steps() const;
  // How often a kernel is started for T steps, parts of launches counted once.
  std::int64_t starts(std::int64_t time) const;

  // Checks the bindings and passes every launch to `sink`, in order. Errors (Input) name tensor, value and
  // limit; nothing is launched then. Calls from several threads are independent.
  Status launch(LaunchSink& sink, const Bindings& bindings, std::int64_t batch, std::int64_t time) const;

 private:
  // What grid_blocks() needs of a launch.
  struct Grid {
    std::int64_t fixed = 1, per_batch = 0, batch_tile = 1, time_tile = 0, tiles_together = 0;
    std::int64_t blocks(std::int64_t batch, std::int64_t time) const;
  };
  enum class Access { Reads, Writes, Names };  // Names: a stride
  enum class SlotKind : std::uint8_t { Pointer, StrideB, StrideT, Batch, Time, FirstTile, StepCount };
  struct Slot {
    SlotKind kind;
    std::uint8_t tensor;
  };
  struct LaunchTable {
    std::vector<Slot> slots;
    Grid grid;
    bool each_step = false;
  };
  struct Place {
    DeviceAddress pointer = 0;
    Strides strides;
  };
  struct Regions {  // byte offsets into the workspace, and its size; the kernels' own fp32 values come first
    std::int64_t exchange = 0, packed = 0, vectors = 0, carries = 0, scratch = 0;
    std::int64_t zero = 0, zero_bytes = 0, discard = 0, total = 0;
  };
  struct Call {
    DeviceAddress workspace = 0;
    std::int64_t batch = 1, time = 1;
    Regions regions;
    bool zero_needed = false;
  };

  Status add_launch(const schedule::Launch& launch, const step::Cell& cell, const schedule::Problem& problem);
  Result<std::uint8_t> index_of(schedule::TensorRef ref, Access access, const step::Cell& cell,
                                const schedule::Problem& problem);
  Regions regions(std::int64_t batch, std::int64_t time) const;
  std::int64_t scratch_offset(std::size_t scratch, std::int64_t batch, std::int64_t time) const;
  Status check_sizes(std::int64_t batch, std::int64_t time) const;
  // Starts kernel k with the arguments of a step.
  Status start(LaunchSink& sink, std::size_t k, std::span<const Place> places, const Call& call,
               std::int64_t step) const;
  // Starts kernel k, in parts if not all batch tiles may run at once; `first_tile` (may be null) is an
  // argument.
  Status launch_parts(LaunchSink& sink, std::size_t k, std::span<void* const> arguments,
                      std::int64_t* first_tile, const Call& call) const;
  Status find_workspace(const Bindings& bindings, Call& call) const;
  Status place(const PlanTensor& tensor, const Bindings& bindings, Call& call, Place& place) const;
  Status check(const PlanTensor& tensor, const Place& place, const Call& call) const;
  Status check_stride(const PlanTensor& tensor, const char* axis, std::int64_t stride) const;

  std::string plan_name_;  // "stream channels=64 ...", for messages
  std::vector<PlanTensor> tensors_;
  std::vector<LaunchTable> launches_;
  DeviceAddress status_ = 0;
  std::int64_t own_bytes_fixed_ = 0;
  std::int64_t own_bytes_per_batch_ = 0;
  schedule::TiledExtent exchange_;               // words
  schedule::Extent packed_, vectors_, carries_;  // bytes
  std::vector<std::int64_t> scratch_units_;      // bytes a batch row and step of each Scratch tensor
  int alignment_ = 4;
};

}  // namespace rondo::runtime
