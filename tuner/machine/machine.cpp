#include "tuner/machine/machine.h"

#include <fmt/format.h>

#include "tuner/machine/device_profile.h"

namespace rondo::tuner {
namespace {

constexpr const char* kDefaultArch = "sm_90";

Result<Machine> by_name(const std::string& name, std::string why, std::string hint) {
  Result<target::Profile> profile = target::find_profile(name);
  if (!profile) return profile.error();
  Machine machine;
  machine.profile = std::move(profile).value();
  machine.why_no_gpu = std::move(why);
  machine.what_to_do = std::move(hint);
  return machine;
}

Result<Machine> on_gpu(const runtime::DeviceInfo& info, db::Database* database) {
  Result<runtime::Context> context = runtime::Context::open(info.ordinal);
  if (!context) return context.error();
  Machine machine;
  machine.profile = current_profile(info, database);
  if (database != nullptr)
    if (const auto measured = measured_profile(machine.profile.key, *database); !measured)
      machine.note = measured.error().message + "; going on with public figures";
  machine.device = info;
  machine.context = std::move(context).value();
  return machine;
}

}  // namespace

Status Machine::need_gpu() const {
  if (context) return success();
  return Error{ErrorKind::Missing, fmt::format("this needs a GPU: {}", why_no_gpu), what_to_do};
}

Result<Machine> find_machine(const std::string& arch, db::Database* database, bool use_gpu) {
  const bool automatic = arch == "auto";
  const std::string name = automatic ? kDefaultArch : arch;
  const Result<target::Profile> wanted = target::find_profile(name);
  if (!wanted) return wanted.error();
  if (!use_gpu) return by_name(name, "it was asked to use none", "leave out --no-gpu");
  const Result<runtime::DeviceInfo> info = runtime::device_info(0);
  if (!info) {
    // A driver that is there and broken is worth a stop only for those who asked for the GPU.
    return by_name(name, info.error().message, info.error().hint);
  }
  if (automatic || wanted->arch() == info->arch()) return on_gpu(*info, database);
  return by_name(name,
                 fmt::format("the GPU here, {}, is {} and not {}", info->name, info->arch(), wanted->arch()),
                 "choose it with --arch auto");
}

}  // namespace rondo::tuner
