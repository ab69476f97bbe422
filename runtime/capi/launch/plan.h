// The plan behind a plan handle: an executable that is ready to launch, and what is known of it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/executable/bindings.h"
#include "compiler/executable/executable.h"
#include "compiler/executable/launcher.h"
#include "runtime/capi/launch/context.h"
#include "runtime/capi/launch/handle.h"
#include "runtime/launch/device_plan.h"

namespace rondo::capi {

// What launches a plan: a GPU, or code of the host. Its functions may be called from several threads.
class Work {
 public:
  virtual ~Work() = default;
  // The executable's, in order.
  virtual const std::vector<executable::Tensor>& tensors() const = 0;
  virtual std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const = 0;
  // Checks the bindings and starts all launches on the stream; errors as those of Launcher::launch().
  virtual Status launch(void* stream, const executable::Bindings& bindings, std::int64_t batch,
                        std::int64_t time) const = 0;
  // The Input or Unsupported that any launch at these sizes would give.
  virtual Status check_fits(std::int64_t batch, std::int64_t time) const = 0;
  // rondo_plan_info.outline.
  virtual std::int32_t outline() const { return 0; }
  // Why it has no workspace to speak of: an error of an outline of any plan.
  virtual Status check_workspace() const { return success(); }
  // Does ahead what it can of such launches; the errors of launch() in what is given.
  virtual Status prepare(const executable::Bindings& bindings, std::int64_t batch,
                         std::int64_t time) const = 0;
  // Copies after what the stream has to do before.
  virtual Status copy(void* stream, executable::Address target, executable::Address source,
                      std::int64_t bytes) const = 0;
  // An error, once, if a launch that has ended gave up waiting.
  virtual Status check() const { return success(); }
  // Whether the stream has nothing left to do. Never waits.
  virtual Result<bool> has_ended(void* stream) const {
    (void)stream;
    return true;
  }
};

// Of a plan that is loaded in the device's context.
std::unique_ptr<Work> cuda_work(std::shared_ptr<const Device> device, runtime::DevicePlan plan);
// Loads the executable's first image on a GPU. Errors: those of DevicePlan::load(); Unsupported on a CPU.
Result<std::unique_ptr<Work>> cuda_work(std::shared_ptr<const Device> device,
                                        const executable::Executable& executable);

// Runs launches on the host: `sink` is called from within launch(), from any thread, and is shared.
Result<std::unique_ptr<Work>> host_work(const executable::Executable& executable,
                                        std::shared_ptr<executable::LaunchSink> sink);

// What a plan's maker knows beyond its executable.
struct PlanFacts {
  std::string origin, note;
  bool verified = false;
  double expected_ms = 0;
};

// The axes of a tensor that a caller may bind.
struct TensorAxes {
  std::int32_t rank = 0;
  std::array<std::int64_t, RONDO_MOST_AXES> extents{};  // RONDO_EXTENT_BATCH and _TIME for B and T
};
// Read from its shape, "[B, T, H, 4, D]"; [B, T, unit] where it has none that its unit agrees with.
TensorAxes axes_of(const executable::Tensor& tensor, std::int64_t heads, std::int64_t dim);

// A value: a second handle on the same work is a copy.
struct PlanObject {
  std::shared_ptr<const Device> device;
  executable::Identity identity;
  PlanFacts facts;
  std::shared_ptr<const Work> work;
  // Tensors that a caller may bind: their places in work->tensors(), and their axes.
  std::vector<std::size_t> bound;
  std::vector<TensorAxes> axes;

  const executable::Tensor& tensor(std::size_t index) const { return work->tensors()[bound[index]]; }
};
template <>
struct HandleOf<PlanObject> {
  using Handle = rondo_plan;
  static constexpr HandleKind kind = HandleKind::Plan;
};

std::unique_ptr<PlanObject> make_plan(std::shared_ptr<const Device> device, executable::Identity identity,
                                      std::unique_ptr<Work> work, PlanFacts facts);

// The plan of an executable with code on a GPU: cuda_work() and make_plan().
Result<std::unique_ptr<PlanObject>> load_plan(std::shared_ptr<const Device> device,
                                              const executable::Executable& executable, PlanFacts facts);

// Error Input: there is no such tensor, or an extent is negative.
Status check_index(const PlanObject& plan, std::int32_t index);
Status check_sizes(std::int64_t batch, std::int64_t time);

// rondo_plan_longest_time(). Errors: Unsupported, and the plan's own where it has no workspace to speak of.
Result<std::int64_t> longest_time(const Work& work, std::int64_t batch, std::int64_t workspace_bytes);

}  // namespace rondo::capi
