// `rondo calibrate`: measure what the cost model stands on.
#include "tuner/calibrate/calibrate.h"

#include <fmt/format.h>

#include "runtime/arrays/staged_files.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/session.h"
#include "tuner/machine/device_profile.h"

namespace rondo::tools {

Status calibrate(const Options& options) {
  Result<tuner::Machine> machine = tuner::find_machine("auto", nullptr);
  if (!machine) return machine.error();
  if (Status status = machine->need_gpu(); !status) return status;
  Result<std::optional<db::Database>> database = open_database(options, Use::Written);
  if (!database) return database.error();
  tuner::CalibrateOptions calibrating;
  calibrating.step = [](const std::string& what) { note("measuring " + what); };
  const auto profile = tuner::calibrate(*machine->context, *machine->device, calibrating);
  if (!profile) return profile.error();
  if (database->has_value())
    if (Status status = tuner::store_profile(*profile, *machine->device, **database); !status) return status;
  const std::string text = target::to_json(*profile) + "\n";
  if (options.output != "-")
    if (Status status = runtime::write_output(options.output, text); !status) return status;
  if (options.json) {
    print(text);
    return success();
  }
  const target::Speeds& speeds = profile->speeds;
  print(fmt::format(
      "{} ({})\n  copy {:.2f} TB/s, one SM {:.1f} GB/s, memory latency {:.0f} ns, barrier {:.1f} ns, launch "
      "{:.2f} us, in a graph {:.2f} us, L2 {:.2f} TB/s, clock {:.0f} MHz\n",
      profile->name, profile->source, speeds.copy_bytes_per_s * 1e-12, speeds.sm_bytes_per_s * 1e-9,
      speeds.memory_latency_s * 1e9, speeds.barrier_s * 1e9, speeds.launch_s * 1e6,
      speeds.graph_launch_s * 1e6, speeds.l2_bytes_per_s * 1e-12, speeds.clock_hz * 1e-6));
  if (database->has_value()) print(fmt::format("stored in '{}'\n", (*database)->path()));
  return success();
}

}  // namespace rondo::tools
