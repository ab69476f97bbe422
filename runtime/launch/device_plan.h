// An executable on a GPU: loaded, and launched on the caller's stream.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/executable/convergence.h"
#include "compiler/executable/launcher.h"
#include "compiler/support/result.h"
#include "runtime/cuda/driver.h"
#include "runtime/launch/graph_cache.h"
#include "runtime/launch/loaded_kernel.h"
#include "runtime/launch/status_word.h"

namespace rondo::runtime {

using executable::Binding;
using executable::Bindings;
using executable::Strides;

// A compiled plan on a GPU. Movable; launch() may be called from several threads (each with the context
// current). Destroy it before the context, and after the work it launched is done.
class DevicePlan {
 public:
  // `context` is the current context. Takes the executable's first image. Errors: Input (no image),
  // Unsupported (made for another architecture; clusters that the GPU has not, or that do not fit on it),
  // Device, and those of executable::check().
  static Result<DevicePlan> load(const executable::Executable& executable, const Context& context);

  // Bytes the caller must bind as workspace for B batch rows of T steps (0: none).
  std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const {
    return launcher_.workspace_bytes(batch, time);
  }
  const std::vector<executable::Tensor>& tensors() const { return launcher_.tensors(); }

  // Starts all kernels on `stream`, in order, and returns. Allocates nothing on the device but CUDA graphs,
  // never waits, may be captured in a graph. A plan of several launches keeps graphs of calls that come again
  // with the same arguments: the second such call records one, so it takes longer, or prepare() does earlier.
  // Tensors that are not bound: see Need. T and B are free at every call. Errors: Input before anything is
  // launched (not bound, null, misaligned, larger than its memory, a result that shares memory with itself or
  // with another tensor, T or B out of range), Device from the driver, Unsupported when blocks that wait for
  // each other do not fit on the GPU at once. Also Device, and nothing is launched, where an earlier launch
  // has given up, until check() has said so.
  Status launch(StreamHandle stream, const executable::Bindings& bindings, std::int64_t batch,
                std::int64_t time) const;

  // Whether B and T are within what a launch takes, and blocks that wait for each other all fit on the GPU;
  // else the Input or Unsupported that launch() would give.
  Status check_fits(std::int64_t batch, std::int64_t time) const;

  // Does what the first calls with these arguments would do beyond the others: records the graph of a plan
  // of several launches, without running it, and keeps graphs of at least `calls` calls from now on.
  // For callers who time their calls, or take turns with more than eight. Errors: the Input and Unsupported
  // of launch().
  Status prepare(const executable::Bindings& bindings, std::int64_t batch, std::int64_t time,
                 std::size_t calls = 1) const;

  // Reports, once, that a kernel gave up. Threads that wait for each other for seconds give up, and their
  // kernel ends with wrong results. Error Device if that has happened since the last call of check(). A
  // launch is covered once the caller has waited for its end. The context and the plan stay usable. Never
  // waits.
  Status check() const;

  // How the iteration of the last launch with this workspace and these sizes ended, which the caller has
  // waited for; none if the plan does not iterate. A small copy on `stream`, waited for. Error Device.
  Result<std::optional<executable::Convergence>> convergence(DeviceAddress workspace, std::int64_t batch,
                                                             std::int64_t time, StreamHandle stream) const;

 private:
  class DriverSink;
  Status start(StreamHandle stream, const Bindings& bindings, std::int64_t batch, std::int64_t time) const;
  bool graphed(std::int64_t batch, std::int64_t time) const;
  Error gave_up() const;
  DevicePlan(Module module, executable::Launcher launcher)
      : module_(std::move(module)), launcher_(std::move(launcher)) {}

  Module module_;
  executable::Launcher launcher_;
  std::vector<LoadedKernel> kernels_;  // by launch
  std::vector<executable::Grid> grids_;
  std::unique_ptr<GraphCache> graphs_;  // of a plan of several launches
  std::optional<StatusWord> status_;    // of a plan whose kernels wait
  std::string waits_;                   // their names
};

}  // namespace rondo::runtime
