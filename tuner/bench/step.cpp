#include "tuner/bench/step.h"

#include "engine/data/host_problem.h"
#include "engine/measure/measure.h"

namespace rondo::tuner {

Result<StepRow> bench_step(const schedule::Task& backward, const engine::TrainingPlans& plans,
                           const runtime::Device& device, const StepOptions& options) {
  const step::Sizes& sizes = backward.problem.sizes;
  const Result<engine::HostProblem> data =
      engine::random_problem(backward, sizes, {.seed = options.seed, .given = options.given.get()});
  if (!data) return data.error();
  Result<engine::TrainingStep> step =
      engine::TrainingStep::make(backward, sizes, options.every, plans, device, [&](schedule::TensorRef ref) {
        return engine::given_values(ref, backward.written, schedule::Pass::Backward, *data, {});
      });
  if (!step) return step.error();
  engine::TimingPlan timing;
  timing.samples = options.samples;
  timing.sample_s = 2e-3;
  const Result<std::vector<double>> seconds =
      engine::Timer(device).time([&](int) { return step->submit(); }, timing);
  if (!seconds) return seconds.error();
  if (Status status = step->check(); !status) return status.error();
  return StepRow{backward.written.name, backward.problem, options.every, step->memory(),
                 engine::timing_of(*seconds)};
}

}  // namespace rondo::tuner
