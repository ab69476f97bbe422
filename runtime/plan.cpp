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
    return plan_.kernels_[index].launch(stream_, blocks, arguments);
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
  const Result<DeviceInfo> device = device_info(context.ordinal());
  if (!device) return device.error();
  DevicePlan plan(std::move(module).value(), std::move(arguments).value());
  for (const schedule::Launch& launch : compiled.plan.launches) {
    Result<LoadedKernel> kernel = LoadedKernel::load(plan.module_, launch.kernel, *device);
    if (!kernel) return kernel.error();
    plan.kernels_.push_back(std::move(kernel).value());
  }
  return plan;
}

Status DevicePlan::launch(StreamHandle stream, const Bindings& bindings, std::int64_t batch,
                          std::int64_t time) const {
  DriverSink sink(*this, stream);
  return arguments_.launch(sink, bindings, batch, time);
}

}  // namespace rondo::runtime
