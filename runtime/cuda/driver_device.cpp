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
    AttributeField{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &DeviceInfo::registers_per_block},
    AttributeField{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &DeviceInfo::registers_per_sm},
    AttributeField{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &DeviceInfo::shared_per_block},
    AttributeField{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                   &DeviceInfo::shared_per_block_optin},
    AttributeField{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &DeviceInfo::shared_per_sm},
    AttributeField{CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
                   &DeviceInfo::shared_reserved_per_block},
    AttributeField{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &DeviceInfo::l2_bytes},
    AttributeField{CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &DeviceInfo::clock_khz},
    AttributeField{CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &DeviceInfo::memory_clock_khz},
    AttributeField{CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &DeviceInfo::memory_bus_bits},
};

Status read_attributes(const Driver& driver, CUdevice device, DeviceInfo& info) {
  const DriverApi& api = driver.api();
  for (const AttributeField& entry : kAttributes) {
    auto read = check(driver, api.device_get_attribute(&(info.*entry.field), entry.attribute, device),
                      fmt::format("cuDeviceGetAttribute({})", static_cast<int>(entry.attribute)));
    if (!read) return read;
  }
  int cooperative = 0;
  auto read =
      check(driver, api.device_get_attribute(&cooperative, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, device),
            "cuDeviceGetAttribute(COOPERATIVE_LAUNCH)");
  if (!read) return read;
  info.cooperative = cooperative != 0;
  // Drivers before 11.8 do not know this attribute: then there are no clusters.
  int clusters = 0;
  if (api.device_get_attribute(&clusters, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, device) != CUDA_SUCCESS)
    clusters = 0;
  info.clusters = clusters != 0 && api.launch_kernel_ex != nullptr;
  return success();
}

Result<CUdevice> find_device(const Driver& driver, int ordinal) {
  auto count = device_count();
  if (!count) return count.error();
  if (ordinal < 0 || ordinal >= *count)
    return Error{ErrorKind::Input,
                 fmt::format("there is no GPU number {}: this machine shows {} GPU(s)", ordinal, *count),
                 "rondo doctor lists the GPUs and their numbers"};
  CUdevice device = 0;
  if (auto got = check(driver, driver.api().device_get(&device, ordinal), "cuDeviceGet"); !got)
    return got.error();
  return device;
}

}  // namespace

std::string DeviceInfo::arch() const { return fmt::format("sm_{}", cc()); }

Result<int> device_count() {
  auto driver = Driver::get();
  if (!driver) return driver.error();
  int count = 0;
  if (auto got = check(**driver, (*driver)->api().device_get_count(&count), "cuDeviceGetCount"); !got)
    return got.error();
  return count;
}

Result<DeviceInfo> device_info(int ordinal) {
  auto loaded = Driver::get();
  if (!loaded) return loaded.error();
  const Driver& driver = **loaded;
  auto device = find_device(driver, ordinal);
  if (!device) return device.error();

  DeviceInfo info;
  info.ordinal = ordinal;
  info.driver_version = driver.version();
  std::array<char, 256> name{};
  auto got =
      check(driver, driver.api().device_get_name(name.data(), static_cast<int>(name.size()) - 1, *device),
            "cuDeviceGetName");
  if (!got) return got.error();
  info.name = name.data();
  CUuuid uuid{};
  if (got = check(driver, driver.api().device_get_uuid(&uuid, *device), "cuDeviceGetUuid"); !got)
    return got.error();
  info.uuid = uuid_text(uuid);
  if (got = check(driver, driver.api().device_total_mem(&info.memory_bytes, *device), "cuDeviceTotalMem");
      !got)
    return got.error();
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
  auto loaded = Driver::get();
  if (!loaded) return loaded.error();
  const Driver& driver = **loaded;
  auto device = find_device(driver, ordinal);
  if (!device) return device.error();
  CUcontext handle = nullptr;
  auto got = check(driver, driver.api().primary_ctx_retain(&handle, *device), "cuDevicePrimaryCtxRetain");
  if (!got) return got.error();
  return Context(handle, *device, true);
}

Result<Context> Context::current() {
  auto loaded = Driver::get();
  if (!loaded) return loaded.error();
  const DriverApi& api = (*loaded)->api();
  CUcontext handle = nullptr;
  if (auto got = check(**loaded, api.ctx_get_current(&handle), "cuCtxGetCurrent"); !got) return got.error();
  if (handle == nullptr)
    return Error{ErrorKind::Missing, "no CUDA context is current on this thread",
                 "make one current first (cudaSetDevice and a call, or cuCtxSetCurrent), or name the GPU"};
  CUdevice device = 0;
  if (auto got = check(**loaded, api.ctx_get_device(&device), "cuCtxGetDevice"); !got) return got.error();
  return Context(handle, device, false);
}

Result<Context> Context::again() const {
  if (handle_.get_deleter().owned) return retain(ordinal_);
  return Context(handle_.get(), ordinal_, false);
}

Result<ScopedCurrent> ScopedCurrent::enter(const Context& context) {
  auto loaded = Driver::get();
  if (!loaded) return loaded.error();
  CUcontext before = nullptr;
  if (auto got = check(**loaded, (*loaded)->api().ctx_get_current(&before), "cuCtxGetCurrent"); !got)
    return got.error();
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

Status Context::make_current() const {
  auto driver = Driver::get();
  if (!driver) return driver.error();
  return check(**driver, (*driver)->api().ctx_set_current(handle_.get()), "cuCtxSetCurrent");
}

Status Context::synchronize() const {
  auto driver = Driver::get();
  if (!driver) return driver.error();
  if (auto current = make_current(); !current) return current;
  return check(**driver, (*driver)->api().ctx_synchronize(), "cuCtxSynchronize");
}

Result<std::size_t> Context::free_bytes() const {
  auto driver = Driver::get();
  if (!driver) return driver.error();
  if (auto current = make_current(); !current) return current.error();
  std::size_t free = 0;
  std::size_t total = 0;
  if (auto got = check(**driver, (*driver)->api().mem_get_info(&free, &total), "cuMemGetInfo"); !got)
    return got.error();
  return free;
}

}  // namespace rondo::runtime
