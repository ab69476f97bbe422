// `rondo calibrate`: measure what the cost model stands on.
#include "tuner/calibrate/calibrate.h"

#include <fmt/format.h>

#include "engine/arrays/staged_files.h"
#include "engine/machine/device_profile.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

// Some of the floors; --json has all.
std::string floors_text(const target::Floors& floors) {
  using Of = target::MeasuredFloor::Of;
  std::string text;
  const auto add = [&](const char* what, const std::optional<double>& seconds) {
    if (seconds)
      text += fmt::format("{}{} {:.1f} ns", text.empty() ? "  floors: " : ", ", what, *seconds * 1e9);
  };
  constexpr double kBytes = 12288;
  add("12 KiB among 48 blocks of the grid", floors.exchange(Of::GridExchange, 48, kBytes));
  add("among 8 of a cluster", floors.exchange(Of::ClusterExchange, 8, kBytes));
  add("in a block", floors.seconds(Of::BlockExchange));
  add("named barrier", floors.seconds(Of::NamedBarrier));
  add("lanes' sum", floors.seconds(Of::LaneSum));
  add("mma.m16n8k16", floors.seconds(Of::Product, "mma.m16n8k16.bf16"));
  add("wgmma.m64n128k16", floors.seconds(Of::Product, "wgmma.m64n128k16.bf16"));
  add("tanh", floors.seconds(Of::Function, "tanh fast"));
  add("tanh accurate", floors.seconds(Of::Function, "tanh accurate"));
  return text.empty() ? "" : text + fmt::format(" ({} in all)\n", floors.all.size());
}

std::string gpu_text(const target::Profile& profile) {
  const target::Speeds& speeds = profile.speeds;
  return fmt::format(
             "{} ({})\n  copy {:.2f} TB/s, one SM {:.1f} GB/s, memory latency {:.0f} ns, barrier {:.1f} ns, "
             "launch "
             "{:.2f} us, in a graph {:.2f} us, L2 {:.2f} TB/s, clock {:.0f} MHz\n",
             profile.name, profile.source, speeds.copy_bytes_per_s * 1e-12, speeds.sm_bytes_per_s * 1e-9,
             speeds.memory_latency_s * 1e9, speeds.barrier_s * 1e9, speeds.launch_s * 1e6,
             speeds.graph_launch_s * 1e6, speeds.l2_bytes_per_s * 1e-12, speeds.clock_hz * 1e-6) +
         floors_text(profile.floors);
}

std::string cpus_text(const target::Profile& profile) {
  const target::CpuLimits& limits = profile.cpu;
  const target::Speeds& speeds = profile.speeds;
  return fmt::format(
      "{} ({})\n  {} threads, vectors of {} bytes, caches {} KiB, {} KiB and {} MiB\n  copy {:.1f} GB/s, one "
      "thread {:.1f} GB/s, memory latency {:.0f} ns, launch {:.2f} us, second caches {:.0f} GB/s, {:.1f} "
      "fused "
      "multiply-adds a cycle and thread, clock {:.0f} MHz\n",
      profile.name, profile.source, limits.threads, limits.vector_bytes, limits.l1_bytes >> 10,
      limits.l2_bytes >> 10, limits.l3_bytes >> 20, speeds.copy_bytes_per_s * 1e-9,
      speeds.sm_bytes_per_s * 1e-9, speeds.memory_latency_s * 1e9, speeds.launch_s * 1e6,
      speeds.l2_bytes_per_s * 1e-9, speeds.alu_per_cycle_sm, speeds.clock_hz * 1e-6);
}

}  // namespace

Status calibrate(const Options& options) {
  Result<engine::Machine> machine = engine::find_machine(options.arch, nullptr);
  if (!machine) return machine.error();
  if (Status status = machine->need_device(); !status) return status;
  Result<std::optional<db::Database>> database = open_database(options, Use::Written);
  if (!database) return database.error();
  tuner::CalibrateOptions calibrating;
  calibrating.step = [](const std::string& what) { note("measuring " + what); };
  const auto profile = tuner::calibrate(*machine, calibrating);
  if (!profile) return profile.error();
  if (database->has_value())
    if (Status status = engine::store_profile(
            *profile, machine->gpu_info ? engine::driver_version(*machine->gpu_info) : "", **database);
        !status)
      return status;
  const std::string text = target::to_json(*profile) + "\n";
  if (options.output != "-")
    if (Status status = engine::write_output(options.output, text, input_files_of(options)); !status)
      return status;
  if (options.json) {
    print(text);
    return success();
  }
  print(profile->is_cpu() ? cpus_text(*profile) : gpu_text(*profile));
  if (database->has_value()) print(fmt::format("stored in '{}'\n", (*database)->path()));
  return success();
}

}  // namespace rondo::tools
