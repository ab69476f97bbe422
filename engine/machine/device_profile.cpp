#include "engine/machine/device_profile.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>

#include "compiler/support/machine_id.h"
#include "compiler/support/version.h"

namespace rondo::engine {
namespace {

constexpr const char* kNoDriver = "none";  // of CPUs

}  // namespace

std::string driver_version(const runtime::DeviceInfo& info) {
  return fmt::format("{}.{}", info.driver_version / 1000, info.driver_version % 1000 / 10);
}

std::string device_key(const std::string& driver_name) {
  for (const target::Profile& profile : target::shipped_profiles())
    if (profile.name == driver_name) return profile.key;
  std::string key;
  for (const char c : driver_name)
    key += std::isalnum(static_cast<unsigned char>(c)) != 0
               ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
               : '-';
  const std::string vendor = "nvidia-";
  if (key.rfind(vendor, 0) == 0) key.erase(0, vendor.size());
  return key.empty() ? "gpu" : key;
}

target::Profile profile_of(const runtime::DeviceInfo& info) {
  target::Profile profile;
  Result<target::Profile> shipped = target::find_profile(info.name);
  if (!shipped) shipped = target::find_profile(info.arch());
  if (shipped) profile = *shipped;
  profile.source = shipped ? "limits from the driver, speeds of " + profile.name
                           : "limits from the driver, speeds guessed";
  profile.name = info.name;
  profile.key = device_key(info.name);
  profile.origin = "public";
  target::Limits& limits = profile.limits;
  profile.target = target::Target::gpu(10 * info.cc_major + info.cc_minor);
  limits.sm_count = info.sm_count;
  limits.shared_per_block = info.shared_per_block_optin;
  limits.shared_per_sm = info.shared_per_sm;
  limits.registers_per_sm = info.registers_per_sm;
  limits.threads_per_sm = info.max_threads_per_sm;
  limits.threads_per_block = info.max_threads_per_block;
  limits.blocks_per_sm = info.max_blocks_per_sm;
  // CUDA C++ Programming Guide, "Thread Block Clusters": 8 is portable; data-center parts take 16.
  const bool wide = info.cc_major == 9 || info.cc_major == 10;
  limits.max_cluster = !info.clusters ? 1 : wide ? 16 : 8;
  limits.l2_bytes = info.l2_bytes;
  return profile;
}

Result<std::optional<target::Profile>> measured_profile(const std::string& key, db::Database& database) {
  const auto stored = database.get_device(key);
  if (!stored) return stored.error();
  if (!stored->has_value() || (*stored)->origin != db::Origin::Measured)
    return std::optional<target::Profile>();
  Result<target::Profile> profile = target::profile_from_json((*stored)->profile);
  if (!profile)
    return Error{
        ErrorKind::Database,
        fmt::format("the profile of '{}' in '{}' is {}", key, database.path(), profile.error().message),
        "`rondo calibrate` puts a new one in its place"};
  return std::optional(std::move(profile).value());
}

std::optional<target::Profile> recorded_profile(const std::string& key,
                                                const std::optional<db::Device>& device) {
  std::optional<target::Profile> stored;
  if (device)
    if (Result<target::Profile> profile = target::profile_from_json(device->profile))
      stored = std::move(profile).value();
  if (stored && device->origin == db::Origin::Measured) return stored;
  if (Result<target::Profile> shipped = target::find_profile(key)) return std::move(shipped).value();
  return stored;
}

target::Profile current_profile(const target::Profile& reported, db::Database* database) {
  if (database == nullptr) return reported;
  const auto measured = measured_profile(reported.key, *database);
  if (!measured || !measured->has_value()) return reported;
  target::Profile profile = **measured;
  profile.limits = reported.limits;
  profile.cpu = reported.cpu;
  return profile;
}

Status check_profiles(const std::vector<db::Device>& devices, const std::string& origin) {
  std::string wrong;
  for (const db::Device& device : devices)
    if (const auto profile = target::profile_from_json(device.profile); !profile)
      wrong +=
          fmt::format("{}device '{}' has {}", wrong.empty() ? "" : "; ", device.key, profile.error().message);
  if (wrong.empty()) return success();
  return Error{ErrorKind::Input, fmt::format("'{}': {}", origin, wrong), "nothing was taken over"};
}

db::Platform platform_of(const runtime::DeviceInfo& info) {
  db::Platform platform;
  platform.rondo_version = kVersion;
  const bool told = info.uuid.find_first_not_of("0-") != std::string::npos;
  platform.device = told ? info.uuid : fmt::format("{} ({})", info.name, info.arch());
  platform.driver = driver_version(info);
  const Result<const runtime::Driver*> driver = runtime::Driver::get();
  if (!driver) return platform;
  // The library's file is named after the driver's full version: libcuda.so.580.65.06.
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical((*driver)->path(), error);
  if (!error) platform.driver += " " + file.filename().string();
  return platform;
}

db::Platform platform_of(const target::Profile& cpus) {
  db::Platform platform;
  platform.rondo_version = kVersion;
  platform.device = fmt::format("{} #{}", cpus.name, machine_id());
  const std::string microcode = processor_microcode();
  platform.driver = microcode.empty() ? kNoDriver : microcode;
  return platform;
}

db::Device to_device(const target::Profile& profile) {
  db::Device device;
  device.key = profile.key;
  device.name = profile.name;
  const target::StoredTarget target = target::StoredTarget::of(profile.target);
  device.compute_major = target.major;
  device.compute_minor = target.minor;
  device.sm_count = profile.units();
  device.profile = target::to_json(profile);
  const bool measured = profile.origin == "measured";
  device.origin = measured ? db::Origin::Measured : db::Origin::Shipped;
  if (measured) {
    device.driver = profile.source;
    device.calibrated_at = db::now();
  }
  return device;
}

Status store_profile(const target::Profile& profile, const std::string& driver, db::Database& database) {
  db::Device device = to_device(profile);
  device.driver = driver.empty() ? kNoDriver : driver;
  device.origin = db::Origin::Measured;
  device.calibrated_at = db::now();
  return database.put_device(device);
}

}  // namespace rondo::engine
