#include "runtime/cuda/driver_device.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "runtime/cuda/driver_api.h"

namespace rondo::runtime {
namespace {

std::string uuid_text(const CUuuid& uuid) {
  std::string text;
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

struct AttributeField {
  CUdevice_attribute attribute;
  int DeviceInfo::*field;
};

constexpr std::array kAttributes{
    AttributeField{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &DeviceInfo::cc_major},
    AttributeField{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &DeviceInfo::cc_minor},
    AttributeField{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &DeviceInfo::sm_count},
    AttributeField{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &DeviceInfo::max_threads_per_block},
    AttributeField{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &DeviceInfo::max_threads_per_sm},
    AttributeField{CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, &DeviceInfo::max_blocks_per_sm},
    AttributeField{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &DeviceInfo::registers_per_sm},
    AttributeField{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &DeviceInfo::shared_per_block},
    AttributeField{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                   &DeviceInfo::shared_per_block_optin},
    AttributeField{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &DeviceInfo::shared_per_sm},
    AttributeField{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &DeviceInfo::l2_bytes},
};

Status read_attributes(const Driver& driver, CUdevice device, DeviceInfo& info) {
  const DriverApi& api = driver.api();
  const auto read = [&](int& value, CUdevice_attribute attribute) {
    return check(driver, api.device_get_attribute(&value, attribute, device),
                 fmt::format("cuDeviceGetAttribute({})", static_cast<int>(attribute)));
  };
  for (const AttributeField& entry : kAttributes)
    if (Status got = read(info.*entry.field, entry.attribute); !got) return got;
  int cooperative = 0;
  if (Status got = read(cooperative, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH); !got) return got;
  info.cooperative = cooperative != 0;
  // Drivers before 11.8 do not know this attribute: then there are no clusters.
  int clusters = 0;
  if (api.device_get_attribute(&clusters, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, device) != CUDA_SUCCESS)
    clusters = 0;
  info.clusters = clusters != 0 && api.launch_kernel_ex;
  return success();
}

Result<CUdevice> find_device(int ordinal) {
  auto count = device_count();
  if (!count) return count.error();
  if (ordinal < 0 || ordinal >= *count)
    return Error{ErrorKind::Input,
                 fmt::format("there is no GPU number {}: this machine shows {} GPU(s)", ordinal, *count),
                 "rondo doctor lists the GPUs and their numbers"};
  CUdevice device = 0;
  if (Status got = call(&DriverApi::device_get, &device, ordinal); !got) return got.error();
  return device;
}

}  // namespace

std::string DeviceInfo::arch() const { return fmt::format("sm_{}", cc()); }

Result<int> device_count() {
  int count = 0;
  if (Status got = call(&DriverApi::device_get_count, &count); !got) return got.error();
  return count;
}

Result<DeviceInfo> device_info(int ordinal) {
  auto loaded = Driver::get();
  if (!loaded) return loaded.error();
  const Driver& driver = **loaded;
  auto device = find_device(ordinal);
  if (!device) return device.error();

  DeviceInfo info;
  info.ordinal = ordinal;
  info.driver_version = driver.version();
  std::array<char, 256> name{};
  Status got = call(&DriverApi::device_get_name, name.data(), static_cast<int>(name.size()) - 1, *device);
  if (!got) return got.error();
  info.name = name.data();
  CUuuid uuid{};
  if (got = call(&DriverApi::device_get_uuid, &uuid, *device); !got) return got.error();
  info.uuid = uuid_text(uuid);
  if (got = call(&DriverApi::device_total_mem, &info.memory_bytes, *device); !got) return got.error();
  if (got = read_attributes(driver, *device, info); !got) return got.error();
  return info;
}

void Context::Release::operator()(CUctx_st*) const noexcept {
  const DriverApi* api = loaded_driver_api();
  if (owned && api != nullptr) api->primary_ctx_release(ordinal);
}

Result<Context> Context::open(int ordinal) {
  Result<Context> context = retain(ordinal);
  if (!context) return context;
  if (Status status = context->make_current(); !status) return status.error();
  return context;
}

Result<Context> Context::retain(int ordinal) {
  auto device = find_device(ordinal);
  if (!device) return device.error();
  CUcontext handle = nullptr;
  if (Status got = call(&DriverApi::primary_ctx_retain, &handle, *device); !got) return got.error();
  return Context(handle, *device, true);
}

Result<Context> Context::current() {
  CUcontext handle = nullptr;
  if (Status got = call(&DriverApi::ctx_get_current, &handle); !got) return got.error();
  if (handle == nullptr)
    return Error{ErrorKind::Missing, "no CUDA context is current on this thread",
                 "make one current first (cudaSetDevice and a call, or cuCtxSetCurrent), or name the GPU"};
  CUdevice device = 0;
  if (Status got = call(&DriverApi::ctx_get_device, &device); !got) return got.error();
  return Context(handle, device, false);
}

Result<Context> Context::again() const {
  if (handle_.get_deleter().owned) return retain(ordinal_);
  return Context(handle_.get(), ordinal_, false);
}

Result<ScopedCurrent> ScopedCurrent::enter(const Context& context) {
  CUcontext before = nullptr;
  if (Status got = call(&DriverApi::ctx_get_current, &before); !got) return got.error();
  if (before == context.handle()) return ScopedCurrent(false, nullptr);
  if (Status status = context.make_current(); !status) return status.error();
  return ScopedCurrent(true, before);
}

ScopedCurrent::ScopedCurrent(ScopedCurrent&& other) noexcept
    : changed_(std::exchange(other.changed_, false)), before_(other.before_) {}

ScopedCurrent::~ScopedCurrent() {
  const DriverApi* api = loaded_driver_api();
  if (changed_ && api != nullptr) api->ctx_set_current(before_);
}

Status Context::make_current() const { return call(&DriverApi::ctx_set_current, handle_.get()); }

Status Context::synchronize() const {
  if (auto current = make_current(); !current) return current;
  return call(&DriverApi::ctx_synchronize);
}

}  // namespace rondo::runtime
