#include "engine/machine/machine.h"

#include <fmt/format.h>

#include "compiler/target/host_profile.h"
#include "compiler/target/target.h"
#include "engine/machine/device_profile.h"
#include "runtime/device/cpu_device.h"
#include "runtime/device/gpu_device.h"

namespace rondo::engine {
namespace {

constexpr const char* kDefaultArch = "sm_90";

// With what the database holds as measured: the speeds, and the limits too where nothing at hand reports
// them.
Machine with_profile(const target::Profile& guess, bool reported, db::Database* database) {
  Machine machine;
  machine.profile = guess;
  if (database == nullptr) return machine;
  const auto measured = measured_profile(guess.key, *database);
  if (!measured) machine.note = measured.error().message + "; going on with public figures";
  if (!measured || !measured->has_value()) return machine;
  const target::Profile& found = **measured;
  // Of a part of the board, as programs that share it may see, or of another.
  const bool whole = found.target == guess.target && found.units() == guess.units();
  if (!reported && !whole)
    machine.note = fmt::format(
        "the profile of '{}' in '{}' is of {} with {} SMs, not of {} with {}; going on "
        "with public figures until `rondo calibrate` has seen the whole board",
        guess.key, database->path(), found.arch(), found.units(), guess.arch(), guess.units());
  else
    machine.profile = reported ? current_profile(guess, database) : found;
  return machine;
}

Result<Machine> by_name(const std::string& name, db::Database* database, std::string why, std::string hint) {
  const Result<target::Profile> profile = target::find_profile(name);
  if (!profile) return profile.error();
  Machine machine = with_profile(*profile, false, database);
  machine.why_no_device = std::move(why);
  machine.what_to_do = std::move(hint);
  return machine;
}

Result<Machine> on_gpu(const runtime::DeviceInfo& info, db::Database* database) {
  Result<runtime::Context> context = runtime::Context::open(info.ordinal);
  if (!context) return context.error();
  return gpu_machine(info, std::move(context).value(), database);
}

Machine these_cpus(const target::Profile& wanted, db::Database* database) {
  Machine machine = with_profile(wanted, true, database);
  machine.device = runtime::cpu_device(wanted.cpu.threads);
  machine.platform = platform_of(machine.profile);
  return machine;
}

Result<Machine> on_cpus(const target::Profile& wanted, db::Database* database) {
  const std::optional<target::Target> here = target::host_target();
  if (!here || !here->runs(wanted.target))
    return by_name(wanted.arch(), nullptr,
                   fmt::format("the CPUs here are {} and not {}", here ? here->name() : "of no known kind",
                               wanted.arch()),
                   "choose them with --arch cpu");
  return these_cpus(wanted, database);
}

}  // namespace

Result<Machine> cpu_machine(int threads, db::Database* database) {
  const std::optional<target::Target> here = target::host_target();
  if (!here) return find_machine("cpu", database);  // which says why
  return these_cpus(target::host_profile(*here, threads), database);
}

Result<Machine> gpu_machine(const runtime::DeviceInfo& info, runtime::Context context,
                            db::Database* database) {
  Machine machine = with_profile(profile_of(info), true, database);
  Result<std::shared_ptr<const runtime::Device>> device = runtime::gpu_device(std::move(context));
  if (!device) return device.error();
  machine.device = std::move(device).value();
  machine.platform = platform_of(info);
  machine.gpu_info = info;
  return machine;
}

Status Machine::need_device() const {
  if (device != nullptr) return success();
  const char* what = profile.is_cpu() ? "these CPUs" : "a GPU";
  return Error{ErrorKind::Missing, fmt::format("this needs {}: {}", what, why_no_device), what_to_do};
}

Result<Machine> find_machine(const std::string& arch, db::Database* database, bool use_gpu) {
  const bool automatic = arch == "auto";
  const std::string name = automatic ? kDefaultArch : arch;
  const Result<target::Profile> wanted = target::find_profile(name);
  if (!wanted) return wanted.error();
  if (wanted->is_cpu()) return on_cpus(*wanted, database);
  if (!use_gpu) return by_name(name, database, "it was asked to use none", "leave out --no-gpu");
  const Result<runtime::DeviceInfo> info = runtime::device_info(0);
  if (!info) {
    // A driver that is there and broken is worth a stop only for those who asked for the GPU.
    return by_name(name, database, info.error().message, info.error().hint);
  }
  if (automatic || wanted->arch() == info->arch()) return on_gpu(*info, database);
  return by_name(name, database,
                 fmt::format("the GPU here, {}, is {} and not {}", info->name, info->arch(), wanted->arch()),
                 "choose it with --arch auto");
}

}  // namespace rondo::engine
