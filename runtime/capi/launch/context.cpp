#include "runtime/capi/launch/context.h"

#include <fmt/format.h>

#include "runtime/capi/launch/call.h"

namespace rondo::capi {

namespace {

constexpr std::size_t kFirstOptions = RONDO_SIZE_TO(rondo_context_options, log_user);
constexpr std::size_t kFirstInfo = RONDO_SIZE_TO(rondo_context_info, memory_bytes);

constexpr std::int32_t kMostThreads = 256;  // as of RONDO_THREADS

Status check_threads(const rondo_context_options& given) {
  if (given.threads < 0 || given.threads > kMostThreads)
    return Error{ErrorKind::Input,
                 fmt::format("threads = {}: a launch on CPUs takes 1 to {}", given.threads, kMostThreads),
                 "0 stands for as many as there are"};
  if (given.threads > 0 && given.device != RONDO_DEVICE_CPU)
    return Error{ErrorKind::Input, fmt::format("threads = {}, and the device is a GPU", given.threads),
                 "leave it 0: it is of CPUs"};
  return success();
}

rondo_context_info describe(const Device& device) {
  rondo_context_info info{};
  info.device = device.kind;
  info.ordinal = device.info ? device.info->ordinal : -1;
  info.name = device.name.c_str();
  info.arch = device.arch.c_str();
  info.multiprocessors = device.info ? device.info->sm_count : 0;
  info.memory_bytes = device.info ? static_cast<std::int64_t>(device.info->memory_bytes) : 0;
  return info;
}

}  // namespace

Result<std::shared_ptr<Device>> open_device(int kind, int ordinal) {
  auto device = std::make_shared<Device>();
  device->kind = kind;
  if (kind == RONDO_DEVICE_CPU) return device;
  if (kind != RONDO_DEVICE_CUDA && kind != RONDO_DEVICE_CUDA_CURRENT)
    return Error{ErrorKind::Input, fmt::format("{} is no kind of device", kind),
                 "take one of RONDO_DEVICE_CUDA, RONDO_DEVICE_CUDA_CURRENT and RONDO_DEVICE_CPU"};
  Result<runtime::Context> context =
      kind == RONDO_DEVICE_CUDA ? runtime::Context::retain(ordinal) : runtime::Context::current();
  if (!context) return context.error();
  device->cuda = std::move(context).value();
  Result<runtime::DeviceInfo> info = runtime::device_info(device->cuda->ordinal());
  if (!info) return info.error();
  device->name = info->name;
  device->arch = info->arch();
  device->info = std::move(info).value();
  return device;
}

}  // namespace rondo::capi

using namespace rondo;  // NOLINT: a source of the C interface

extern "C" {

rondo_status rondo_context_create(const rondo_context_options* options, rondo_context** context) {
  using Made = Result<std::unique_ptr<capi::ContextObject>>;
  return capi::create<capi::ContextObject>(context, "context", [&]() -> Made {
    const auto given = capi::read_struct(options, capi::kFirstOptions, "rondo_context_options");
    if (!given) return given.error();
    if (Status status = capi::check_threads(*given); !status) return status.error();
    auto device = capi::open_device(given->device, given->ordinal);
    if (!device) return device.error();
    (*device)->threads = given->threads;
    if (given->log != nullptr)
      (*device)->note = [log = given->log, user = given->log_user](const std::string& message) {
        log(user, RONDO_LOG_NOTE, message.c_str());
      };
    auto object = std::make_unique<capi::ContextObject>();
    object->device = std::move(device).value();
    return object;
  });
}

rondo_status rondo_context_destroy(rondo_context* context) {
  return capi::destroy<capi::ContextObject>(context);
}

rondo_status rondo_context_get_info(const rondo_context* context, rondo_context_info* info) {
  return capi::with<capi::ContextObject>(context, [&](const auto& object) -> Status {
    return capi::write_struct(capi::describe(*object.device), info, capi::kFirstInfo, "rondo_context_info");
  });
}

}  // extern "C"
