// One measurement of a problem's best known kernel, beside the copy bandwidth of the same run: `rondo bench`.
#pragma once

#include <string>

#include "compiler/schedule/problem/task.h"
#include "engine/measure/measure.h"
#include "engine/measure/samples.h"
#include "engine/plan/ready_plan.h"

namespace rondo::tuner {

// A row of benchmarks/results/*.json.
struct BenchRow {
  std::string cell;
  step::Clip clip;
  schedule::Problem problem;
  engine::Choice choice;
  engine::Timing timing;        // seconds
  std::int64_t bytes = 0;       // that a run must move (schedule::compulsory_bytes)
  double copy_bytes_per_s = 0;  // a copy within the device's memory, read + write, measured in this run; on
                                // CPUs of as many bytes, in turns with the kernel
  double ready_s =
      0;  // from the parsed cell to a loaded kernel: choice, cubin from cache or compiler, module
  bool from_cache = false;                             // the cubin came from the database
  std::optional<executable::Convergence> convergence;  // of the last run, where the kernel iterates

  double share() const { return static_cast<double>(bytes) / timing.median_s / copy_bytes_per_s; }
};

struct BenchOptions {
  int samples = 21;
  double copy_bytes_per_s = 0;                 // of a GPU; 0: measured first
  double weights = engine::RunData::kWeights;  // standard deviation of the parameters
  engine::Given given{};                       // what of the data is not random
};

// Times one pass on the machine's device. Errors: Missing (there is none), Device.
Result<BenchRow> bench(const schedule::Task& task, const engine::Machine& machine,
                       const engine::ReadyPlan& ready, const BenchOptions& options = {});

}  // namespace rondo::tuner
