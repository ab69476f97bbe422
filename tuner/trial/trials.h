// What a tuning run does on a device: kernels are loaded, timed and verified. In this process
// (device_trials.h), or in a worker process that can be killed (process.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/executable/executable.h"
#include "compiler/schedule/problem/problem.h"
#include "compiler/support/result.h"
#include "engine/check/device_shape.h"
#include "engine/check/verdict.h"

namespace rondo::tuner {

// A compiled candidate.
struct TrialPlan {
  std::size_t candidate = 0;  // its number: what was loaded under it is kept until drop()
  const executable::Executable* executable = nullptr;  // with code; lives as long as the call
  std::int64_t turn = 1;                               // Strategy::turn()
};

class Trials {
 public:
  virtual ~Trials() = default;
  // Bytes per second, read + written, of a large copy on the device.
  virtual Result<double> copy_bandwidth() = 0;
  // Seconds of one run, one entry a sample, each of about `sample_s`.
  virtual Result<std::vector<double>> run(const TrialPlan& plan, int samples, double sample_s) = 0;
  // One sample of each plan in turn.
  virtual Result<std::vector<double>> round(const std::vector<TrialPlan>& plans) = 0;
  // Compares with the reference on data of a seed; 0: of the set-up's, which is at hand, other data takes
  // making. Errors: why it could not be compared; Input where nothing can be said on these data.
  virtual Result<engine::Verdict> verify(const TrialPlan& plan, std::uint64_t seed = 0) = 0;
  // Compares with plain kernels at the problem's own sizes (engine/check/at_shape.h). Of one that passed the
  // summary says what was compared. Errors: Device where a kernel failed; else why nothing can be
  // compared.
  virtual Result<engine::Verdict> verify_at_shape(const TrialPlan& plan, const engine::PlainCode& plain) = 0;
  virtual void drop(std::size_t candidate) = 0;  // it will not be asked for again
  virtual bool alive() const = 0;                // false: nothing more can run
};

// What trials of one problem need to begin.
struct TrialSetup {
  schedule::Task task;     // its profile is of the machine the trials run on
  std::uint64_t seed = 1;  // of the data
  engine::Given given{};   // what of the data is not random
};

}  // namespace rondo::tuner
