#include "runtime/plan.h"

namespace rondo::runtime {

class DevicePlan::DriverSink final : public LaunchSink {
 public:
  DriverSink(const DevicePlan& plan, StreamHandle stream) : plan_(plan), stream_(stream) {}

  Status zero(DeviceAddress pointer, std::int64_t bytes) override {
    // The region is padded to 256 bytes: rounding up to words stays inside.
    return fill_words(pointer, 0, static_cast<std::size_t>((bytes + 3) / 4), stream_);
  }

  Status launch(std::size_t index, std::int64_t blocks, std::span<void* const> arguments) override {
    const LoadedKernel& kernel = plan_.kernels_[index];
    LaunchShape shape;
    shape.grid.x = static_cast<unsigned>(blocks);
    shape.block.x = kernel.threads;
    shape.dynamic_shared_bytes = kernel.shared_bytes;
    return runtime::launch(kernel.function, shape, stream_, arguments);
  }

 private:
  const DevicePlan& plan_;
  StreamHandle stream_;
};

Result<DevicePlan> DevicePlan::load(const CompiledPlan& compiled, const Context& context) {
  if (Status status = context.make_current(); !status) return status.error();
  Result<PlanArguments> arguments = PlanArguments::make(*compiled.cell, compiled.problem, compiled.plan);
  if (!arguments) return arguments.error();
  Result<Module> module = Module::load(compiled.cubin);
  if (!module) return module.error();
  DevicePlan plan(std::move(module).value(), std::move(arguments).value());
  for (const schedule::Launch& launch : compiled.plan.launches) {
    Result<Function> function = plan.module_.function(launch.kernel.name);
    if (!function) return function.error();
    const auto shared = static_cast<std::size_t>(kernel::shared_bytes(launch.kernel));
    if (shared > 0)
      if (Status status = function->set_dynamic_shared(shared); !status) return status.error();
    plan.kernels_.push_back(
        {std::move(function).value(), static_cast<unsigned>(launch.kernel.threads), shared});
  }
  return plan;
}

Status DevicePlan::launch(StreamHandle stream, const Bindings& bindings, std::int64_t batch,
                          std::int64_t time) const {
  DriverSink sink(*this, stream);
  return arguments_.launch(sink, bindings, batch, time);
}

}  // namespace rondo::runtime
