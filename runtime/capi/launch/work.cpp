#include <cstring>

#include "runtime/capi/launch/plan.h"
#include "runtime/cuda/driver_memory.h"
#include "runtime/cuda/driver_stream.h"

namespace rondo::capi {

namespace {

using executable::Address;
using executable::Bindings;

class CudaWork final : public Work {
 public:
  CudaWork(std::shared_ptr<const Device> device, runtime::DevicePlan plan)
      : device_(std::move(device)), plan_(std::make_unique<runtime::DevicePlan>(std::move(plan))) {}

  // Modules and graphs are unloaded from a context that is current.
  ~CudaWork() override {
    const auto current = runtime::ScopedCurrent::enter(*device_->cuda);
    plan_.reset();
  }

  const std::vector<executable::Tensor>& tensors() const override { return plan_->tensors(); }
  std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const override {
    return plan_->workspace_bytes(batch, time);
  }

  Status launch(void* stream, const Bindings& bindings, std::int64_t batch,
                std::int64_t time) const override {
    const auto current = runtime::ScopedCurrent::enter(*device_->cuda);
    if (!current) return current.error();
    return plan_->launch(static_cast<runtime::StreamHandle>(stream), bindings, batch, time);
  }

  Status check_fits(std::int64_t batch, std::int64_t time) const override {
    return plan_->check_fits(batch, time);
  }

  Status prepare(const Bindings& bindings, std::int64_t batch, std::int64_t time) const override {
    const auto current = runtime::ScopedCurrent::enter(*device_->cuda);
    if (!current) return current.error();
    return plan_->prepare(bindings, batch, time);
  }

  Status copy(void* stream, Address target, Address source, std::int64_t bytes) const override {
    const auto current = runtime::ScopedCurrent::enter(*device_->cuda);
    if (!current) return current.error();
    return runtime::copy_on_device(target, source, static_cast<std::size_t>(bytes),
                                   static_cast<runtime::StreamHandle>(stream));
  }

  Status check() const override { return plan_->check(); }

  Result<bool> has_ended(void* stream) const override {
    const auto current = runtime::ScopedCurrent::enter(*device_->cuda);
    if (!current) return current.error();
    return runtime::has_ended(static_cast<runtime::StreamHandle>(stream));
  }

 private:
  std::shared_ptr<const Device> device_;
  std::unique_ptr<runtime::DevicePlan> plan_;
};

class HostWork final : public Work {
 public:
  HostWork(executable::Launcher launcher, std::shared_ptr<executable::LaunchSink> sink)
      : launcher_(std::move(launcher)), sink_(std::move(sink)) {}

  const std::vector<executable::Tensor>& tensors() const override { return launcher_.tensors(); }
  std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const override {
    return launcher_.workspace_bytes(batch, time);
  }
  Status launch(void*, const Bindings& bindings, std::int64_t batch, std::int64_t time) const override {
    return launcher_.launch(*sink_, bindings, batch, time);
  }
  Status prepare(const Bindings& bindings, std::int64_t batch, std::int64_t time) const override {
    return launcher_.check_call(bindings, batch, time);
  }
  Status check_fits(std::int64_t batch, std::int64_t time) const override {
    return launcher_.check_sizes(batch, time);
  }
  Status copy(void*, Address target, Address source, std::int64_t bytes) const override {
    std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source),
                 static_cast<std::size_t>(bytes));
    return success();
  }

 private:
  executable::Launcher launcher_;
  std::shared_ptr<executable::LaunchSink> sink_;
};

}  // namespace

std::unique_ptr<Work> cuda_work(std::shared_ptr<const Device> device, runtime::DevicePlan plan) {
  return std::make_unique<CudaWork>(std::move(device), std::move(plan));
}

Result<std::unique_ptr<Work>> cuda_work(std::shared_ptr<const Device> device,
                                        const executable::Executable& executable) {
  if (!device->cuda)
    return Error{ErrorKind::Unsupported,
                 "plan '" + executable.plan_name() + "' is code for a GPU; the context is the CPU",
                 "make a context on a GPU"};
  const auto current = runtime::ScopedCurrent::enter(*device->cuda);
  if (!current) return current.error();
  Result<runtime::DevicePlan> plan = runtime::DevicePlan::load(executable, *device->cuda);
  if (!plan) return plan.error();
  return cuda_work(std::move(device), std::move(plan).value());
}

Result<std::unique_ptr<Work>> host_work(const executable::Executable& executable,
                                        std::shared_ptr<executable::LaunchSink> sink) {
  Result<executable::Launcher> launcher = executable::Launcher::make(executable);
  if (!launcher) return launcher.error();
  return std::unique_ptr<Work>(std::make_unique<HostWork>(std::move(launcher).value(), std::move(sink)));
}

}  // namespace rondo::capi
