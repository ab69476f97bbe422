#include "tuner/why/why.h"

#include <algorithm>

#include "compiler/schedule/strategies.h"

namespace rondo::tuner {

double Explanation::share_of_floor() const {
  if (floors.empty() || seconds() <= 0) return 0;
  return std::min(1.0, floors.front().seconds / seconds());
}

Result<Explanation> explain(const schedule::Task& task, const engine::Machine& machine,
                            const engine::ReadyPlan& ready, int rounds, const engine::Given& given) {
  const schedule::Strategy& strategy = *schedule::find_strategy(ready.choice.strategy);
  const schedule::Parameters parameters = strategy.completed(ready.choice.parameters);
  Explanation why;
  why.choice = ready.choice;
  why.model_s = strategy.cost(task, parameters).seconds;
  why.copy_bytes_per_s = task.profile.speeds.copy_bytes_per_s;
  why.parts = strategy.parts(task, parameters);
  std::ranges::stable_sort(why.parts,
                           [](const auto& one, const auto& other) { return one.seconds > other.seconds; });
  if (ready.plan) {
    BenchOptions options;
    options.samples = rounds;
    options.given = given;
    const Result<BenchRow> row = bench(task, machine, ready, options);
    if (!row) return row.error();
    why.measured = row->timing;
    why.copy_bytes_per_s = row->copy_bytes_per_s;
    Result<PartTimes> times = measure_parts(task, machine, ready.choice, rounds, given);
    if (!times) return times.error();
    why.without = std::move(times->parts);
  }
  why.floors = floors(task, why.parts, why.copy_bytes_per_s);
  why.changes = changes(task, ready.choice.strategy);
  return why;
}

}  // namespace rondo::tuner
