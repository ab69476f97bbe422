#include "runtime/launch/device_plan.h"

#include <fmt/format.h>

#include <bit>
#include <functional>

#include "runtime/launch/call_key.h"

namespace rondo::runtime {

namespace {

// What starts more kernels is started launch by launch: a graph takes memory for each, and hides less the
// longer it runs.
constexpr std::int64_t kMostGraphed = 4096;

}  // namespace

class DevicePlan::DriverSink final : public executable::LaunchSink {
 public:
  DriverSink(const DevicePlan& plan, StreamHandle stream) : plan_(plan), stream_(stream) {}

  Status fill(DeviceAddress pointer, std::int64_t bytes, float value, scalar::Storage) override {
    // The region is padded to 256 bytes: rounding up to words stays inside.
    return fill_words(pointer, std::bit_cast<std::uint32_t>(value), static_cast<std::size_t>((bytes + 3) / 4),
                      stream_);
  }

  Status copy(DeviceAddress target, DeviceAddress source, std::int64_t bytes) override {
    return copy_on_device(target, source, static_cast<std::size_t>(bytes), stream_);
  }

  Status launch(std::size_t index, std::int64_t blocks, std::span<void* const> arguments) override {
    return plan_.kernels_[index].launch(stream_, blocks, arguments);
  }

 private:
  const DevicePlan& plan_;
  StreamHandle stream_;
};

Result<DevicePlan> DevicePlan::load(const executable::Executable& executable, const Context& context) {
  if (Status status = context.make_current(); !status) return status.error();
  if (executable.images.empty())
    return Error{ErrorKind::Input, fmt::format("plan '{}' has no code to load", executable.plan_name()),
                 "compile it first"};
  Result<executable::Launcher> launcher = executable::Launcher::make(executable);
  if (!launcher) return launcher.error();
  Result<Module> module = Module::load(executable.images.front().bytes);
  if (!module) return module.error();
  const Result<DeviceInfo> device = device_info(context.ordinal());
  if (!device) return device.error();
  DevicePlan plan(std::move(module).value(), std::move(launcher).value());
  std::vector<LoadedKernel> kernels;
  for (const executable::Kernel& kernel : executable.kernels) {
    Result<LoadedKernel> loaded = LoadedKernel::load(plan.module_, kernel, *device);
    if (!loaded) return loaded.error();
    kernels.push_back(std::move(loaded).value());
    if (kernel.waits) plan.waits_ += (plan.waits_.empty() ? "" : ", ") + kernel.name;
  }
  for (const executable::Launch& launch : executable.launches) {
    plan.kernels_.push_back(kernels[launch.kernel]);
    plan.grids_.push_back(launch.grid);
  }
  if (!plan.waits_.empty()) {
    Result<StatusWord> status = StatusWord::make();
    if (!status) return status.error();
    plan.status_ = std::move(status).value();
    plan.launcher_.set_status(plan.status_->address());
  }
  // A graph of one kernel starts 1.1 us later than the kernel (H200), which shows where the kernel is short.
  if (plan.launcher_.repeats() || plan.kernels_.size() > 1)
    plan.graphs_ = std::make_unique<GraphCache>(record_graph);
  return plan;
}

Status DevicePlan::check_fits(std::int64_t batch, std::int64_t time) const {
  if (Status status = launcher_.check_sizes(batch, time); !status) return status;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const executable::Grid& grid = grids_[i];
    const std::int64_t tiles = grid.blocks.tiles(batch);
    const std::int64_t part = grid.tiles_together > 0 ? std::min(grid.tiles_together, tiles) : tiles;
    if (Status status = kernels_[i].check_fits(grid.blocks.of_tiles(part, time)); !status) return status;
  }
  return success();
}

Error DevicePlan::gave_up() const {
  return {ErrorKind::Device,
          fmt::format("threads of {} waited more than 4 s for each other and gave up; the results of that "
                      "launch are wrong",
                      waits_),
          "a debugger or a machine that was suspended does that; if it comes again, choose another plan "
          "(--strategy, --param) and report this one"};
}

Status DevicePlan::check() const {
  if (!status_ || status_->take() == 0) return success();
  return gave_up();
}

Result<std::optional<executable::Convergence>> DevicePlan::convergence(DeviceAddress workspace,
                                                                       std::int64_t batch, std::int64_t time,
                                                                       StreamHandle stream) const {
  const auto region = launcher_.report(0, batch, time);
  if (!region) return std::optional<executable::Convergence>();
  std::vector<float> records(static_cast<std::size_t>(region->bytes) / sizeof(float));
  if (Status status = copy_from_device(std::as_writable_bytes(std::span(records)),
                                       workspace + static_cast<DeviceAddress>(region->pointer), stream);
      !status)
    return status.error();
  if (Status status = synchronize(stream); !status) return status.error();
  return std::optional(executable::convergence_of(records));
}

Status DevicePlan::start(StreamHandle stream, const Bindings& bindings, std::int64_t batch,
                         std::int64_t time) const {
  DriverSink sink(*this, stream);
  return launcher_.launch(sink, bindings, batch, time);
}

bool DevicePlan::graphed(std::int64_t batch, std::int64_t time) const {
  const bool empty = batch == 0 || time == 0;  // a call that starts no kernel
  return graphs_ != nullptr && !empty && launcher_.starts(batch, time) <= kMostGraphed;
}

Status DevicePlan::launch(StreamHandle stream, const Bindings& bindings, std::int64_t batch,
                          std::int64_t time) const {
  if (status_ && status_->read() != 0) {
    Error earlier = gave_up();
    earlier.hint =
        "rondo_plan_check(), or check() of the plan, takes note of it, and then it launches again; " +
        earlier.hint;
    return earlier;
  }
  if (!graphed(batch, time)) return start(stream, bindings, batch, time);
  const Result<bool> capturing = is_capturing(stream);
  if (!capturing) return capturing.error();
  if (*capturing) return start(stream, bindings, batch, time);
  const auto call = [&](StreamHandle on) { return start(on, bindings, batch, time); };
  return graphs_->run(stream, key_of_call(bindings, batch, time), std::cref(call));
}

Status DevicePlan::prepare(const Bindings& bindings, std::int64_t batch, std::int64_t time,
                           std::size_t calls) const {
  if (Status status = launcher_.check_call(bindings, batch, time); !status) return status;
  if (Status status = check_fits(batch, time); !status) return status;
  if (!graphed(batch, time)) return success();
  graphs_->prepare(
      key_of_call(bindings, batch, time), [&](StreamHandle on) { return start(on, bindings, batch, time); },
      calls);
  return success();
}

}  // namespace rondo::runtime
