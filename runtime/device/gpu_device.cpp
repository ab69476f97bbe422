#include "runtime/device/gpu_device.h"

#include "runtime/device/gpu_turns.h"

namespace rondo::runtime {

namespace {

class GpuPlan final : public LoadedPlan {
 public:
  GpuPlan(DevicePlan plan, StreamHandle stream) : plan_(std::move(plan)), stream_(stream) {}

  std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const override {
    return plan_.workspace_bytes(batch, time);
  }
  const std::vector<executable::Tensor>& tensors() const override { return plan_.tensors(); }
  Status launch(const Bindings& bindings, std::int64_t batch, std::int64_t time) const override {
    return plan_.launch(stream_, bindings, batch, time);
  }
  void prepare(const Bindings& bindings, std::int64_t batch, std::int64_t time,
               std::size_t calls) const override {
    (void)plan_.prepare(bindings, batch, time, calls);  // launch() says the same
  }
  Status check() const override { return plan_.check(); }
  Status check_fits(std::int64_t batch, std::int64_t time) const override {
    return plan_.check_fits(batch, time);
  }
  Result<std::optional<executable::Convergence>> convergence(const Memory& workspace, std::int64_t batch,
                                                             std::int64_t time) const override {
    return plan_.convergence(workspace.address(), batch, time, stream_);
  }

  DevicePlan take() { return std::move(plan_); }

 private:
  DevicePlan plan_;
  StreamHandle stream_;
};

class GpuDevice final : public Device {
 public:
  using SharedContext = std::shared_ptr<const Context>;

  static Result<std::shared_ptr<const Device>> make(SharedContext context) {
    if (Status status = context->make_current(); !status) return status.error();
    Result<Stream> stream = Stream::create();
    if (!stream) return stream.error();
    Result<Event> start = Event::create();
    if (!start) return start.error();
    Result<Event> end = Event::create();
    if (!end) return end.error();
    const Result<DeviceInfo> info = device_info(context->ordinal());
    if (!info) return info.error();
    return std::shared_ptr<const Device>(new GpuDevice(std::move(context), std::move(*stream),
                                                       std::move(*start), std::move(*end), info->uuid));
  }

  Result<Memory> allocate(std::size_t bytes) const override {
    Result<DeviceBuffer> made = DeviceBuffer::allocate(bytes);
    if (!made) return made.error();
    auto owner = std::make_shared<DeviceBuffer>(std::move(*made));
    const Address address = owner->address();
    return Memory(address, bytes, std::move(owner));
  }
  Status upload(Address to, std::span<const std::byte> from) const override {
    return copy_to_device(to, from, stream_);
  }
  Status download(Address from, std::span<std::byte> to) const override {
    return copy_from_device(to, from, stream_);
  }
  Status fill(Address at, std::uint8_t value, std::size_t bytes) const override {
    return fill_bytes(at, value, bytes, stream_);
  }
  Status copy(Address to, Address from, std::size_t bytes) const override {
    return copy_on_device(to, from, bytes, stream_);
  }
  Status wait() const override { return stream_.synchronize(); }

  Result<std::unique_ptr<LoadedPlan>> load(const executable::Executable& executable) const override {
    Result<DevicePlan> plan = DevicePlan::load(executable, *context_);
    if (!plan) return plan.error();
    return std::unique_ptr<LoadedPlan>(new GpuPlan(std::move(*plan), stream_));
  }

  Result<double> seconds_of(const std::function<Status()>& work) const override {
    if (Status status = start_.record(stream_); !status) return status.error();
    if (Status status = work(); !status) return status.error();
    if (Status status = end_.record(stream_); !status) return status.error();
    if (Status status = end_.synchronize(); !status) return status.error();
    const Result<float> elapsed = end_.elapsed_ms_since(start_);
    if (!elapsed) return elapsed.error();
    return static_cast<double>(*elapsed) * 1e-3;
  }
  Result<std::shared_ptr<void>> hold() const override { return runtime::hold(stream_); }
  std::size_t copy_bytes() const override { return std::size_t{1} << 30; }

  std::shared_ptr<void> turn() const override { return turns_.take(); }

  bool usable() const override { return context_->synchronize().ok(); }
  Status make_current() const override { return context_->make_current(); }
  const Context* context() const override { return context_.get(); }
  StreamHandle stream() const { return stream_; }

 private:
  GpuDevice(SharedContext context, Stream stream, Event start, Event end, const std::string& uuid)
      : context_(std::move(context)),
        stream_(std::move(stream)),
        start_(std::move(start)),
        end_(std::move(end)),
        turns_(uuid) {}

  SharedContext context_;  // destroyed after what lives in it
  Stream stream_;
  Event start_, end_;
  mutable GpuTurns turns_;
};

}  // namespace

Result<std::shared_ptr<const Device>> gpu_device(Context context) {
  return GpuDevice::make(std::make_shared<const Context>(std::move(context)));
}

Result<std::shared_ptr<const Device>> gpu_device_in(const Context& context) {
  return GpuDevice::make(GpuDevice::SharedContext(std::shared_ptr<void>(), &context));
}

StreamHandle stream_of(const Device& gpu) { return dynamic_cast<const GpuDevice&>(gpu).stream(); }

DevicePlan take_device_plan(std::unique_ptr<LoadedPlan> plan) { return dynamic_cast<GpuPlan&>(*plan).take(); }

}  // namespace rondo::runtime
