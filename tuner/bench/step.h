// A training step timed as a whole, in parts of time or in one piece: `rondo bench --save every=K`.
#pragma once

#include <cstdint>
#include <string>

#include "engine/data/given_data.h"
#include "engine/measure/samples.h"
#include "engine/plan/parts_of_time.h"

namespace rondo::tuner {

struct StepRow {
  std::string cell;
  schedule::Problem problem;  // of all steps, of the backward pass
  std::int64_t every = 0;     // steps of a part
  engine::PartsMemory memory;
  engine::Timing timing;  // seconds of the whole step
};

struct StepOptions {
  std::int64_t every = 1;
  int samples = 21;
  std::uint64_t seed = 1;
  engine::Given given{};  // what of the data is not random
};

// Times all launches of a step, one behind the other: passes that walk, passes that save again, and backward
// passes. Sums of parts' gradients of parameters are not among them: who trains in parts adds them where he
// keeps them. Of the backward task and plans of a part that the device has loaded. Errors: those of
// TrainingStep.
Result<StepRow> bench_step(const schedule::Task& backward, const engine::TrainingPlans& plans,
                           const runtime::Device& device, const StepOptions& options);

}  // namespace rondo::tuner
