#include "tuner/measure/bench.h"

#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "tuner/measure/measure.h"

namespace rondo::tuner {

Result<BenchRow> bench(const step::Cell& cell, const schedule::Problem& problem, const Machine& machine,
                       const ReadyPlan& ready, const BenchOptions& options) {
  if (Status status = machine.need_device(); !status) return status.error();
  Timer timer(*machine.device);
  double copy_bytes_per_s = options.copy_bytes_per_s;
  if (copy_bytes_per_s <= 0) {
    const Result<double> copy = copy_bandwidth(timer);
    if (!copy) return copy.error();
    copy_bytes_per_s = *copy;
  }
  Result<RunData> data =
      RunData::make(cell, problem, cache_to_leave(machine.profile), *machine.device, 1, options.weights);
  if (!data) return data.error();
  if (Status status = data->reserve(*ready.plan); !status) return status.error();
  TimingPlan timing;
  timing.warm_up = 3;
  timing.samples = options.samples;
  timing.sample_s = 2e-3;
  timing.sets = data->sets();
  const Result<std::vector<double>> seconds = timer.time(data->work(*ready.plan), timing);
  if (!seconds) return seconds.error();
  if (Status status = ready.plan->check(); !status) return status.error();
  auto convergence = data->convergence(*ready.plan);
  if (!convergence) return convergence.error();
  return BenchRow{cell.name,        cell.clip,           problem,
                  ready.choice,     timing_of(*seconds), schedule::compulsory_bytes(cell, problem),
                  copy_bytes_per_s, ready.ready_s,       ready.compiled.from_cache,
                  *convergence};
}

}  // namespace rondo::tuner
