#include "engine/choice/crossover.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/strategies_for.h"
#include "engine/choice/candidates.h"

namespace rondo::engine {

namespace {

constexpr std::int64_t kMostChannels = 1 << 18;

Result<std::string> best_strategy(schedule::Task task, std::int64_t batch) {
  task.problem.sizes.batch = batch;
  const Result<Candidate> best = best_candidate(task);
  if (!best) return best.error();
  return best->strategy;
}

// Numbers of batch rows: `few` is best at `within`, and `many` at `beyond`.
struct Bracket {
  std::string few, many;
  std::int64_t within = 1, beyond = 1;
};

// Around what is asked, so that no answer contradicts the ranking there.
Result<Bracket> bracket_of(const schedule::Task& task, std::int64_t row) {
  const std::int64_t asked = task.problem.sizes.batch, most = std::max(asked, kMostChannels / row);
  const Result<std::string> few = best_strategy(task, 1);
  if (!few) return few.error();
  const Result<std::string> here = best_strategy(task, asked);
  if (!here) return here.error();
  const Result<std::string> many = best_strategy(task, most);
  if (!many) return many.error();
  if (*here == *many) return Bracket{*few, *many, 1, asked};
  return Bracket{*here, *many, asked, most};
}

}  // namespace

Result<std::optional<Crossover>> crossover(const schedule::Task& task) {
  if (task.structure.has_matrix) return std::optional<Crossover>{};
  std::int64_t legal = 0;
  for (const schedule::Strategy* strategy : schedule::strategies_for(task.profile))
    legal += strategy->legal(task).legal ? 1 : 0;
  const std::int64_t row = task.problem.sizes.heads * task.problem.sizes.dim;
  if (legal < 2 || task.problem.sizes.batch < 1) return std::optional<Crossover>{};
  Result<Bracket> found = bracket_of(task, row);
  if (!found) return found.error();
  Bracket& at = *found;
  while (at.few != at.many && at.beyond - at.within > std::max<std::int64_t>(1, at.within / 8)) {
    const std::int64_t middle = at.within + (at.beyond - at.within) / (at.beyond > 4 * at.within ? 4 : 2);
    const Result<std::string> best = best_strategy(task, middle);
    if (!best) return best.error();
    (*best == at.few ? at.within : at.beyond) = middle;
  }
  return std::optional<Crossover>{{at.few, at.many, at.within * row}};
}

std::string print(const Crossover& crossover, const schedule::Problem& problem) {
  if (crossover.few == crossover.many)
    return fmt::format("by model, at T={}: {} for any number of channels\n", problem.sizes.time,
                       crossover.few);
  const std::int64_t row = problem.sizes.heads * problem.sizes.dim;
  return fmt::format("by model, at T={}, H={}, D={}: {} up to B={} ({} channels), {} with more\n",
                     problem.sizes.time, problem.sizes.heads, problem.sizes.dim, crossover.few,
                     crossover.channels / row, crossover.channels, crossover.many);
}

}  // namespace rondo::engine
