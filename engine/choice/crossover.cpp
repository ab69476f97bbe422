#include "engine/choice/crossover.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/strategies.h"
#include "engine/choice/candidates.h"

namespace rondo::engine {

namespace {

constexpr int kFewest = 6, kMost = 18;  // powers of two: 64 to 262,144 channels
constexpr std::int64_t kRow = 1024;

Result<std::string> best_strategy(schedule::Task task, int power) {
  const std::int64_t channels = std::int64_t{1} << power;
  step::Sizes& sizes = task.problem.sizes;
  sizes.dim = std::min(channels, kRow);
  sizes.batch = channels / sizes.dim;
  sizes.heads = 1;
  const Result<Candidate> best = best_candidate(task);
  if (!best) return best.error();
  return best->strategy;
}

}  // namespace

Result<std::optional<Crossover>> crossover(const schedule::Task& task) {
  if (task.structure.has_matrix) return std::optional<Crossover>{};
  std::int64_t legal = 0;
  for (const schedule::Strategy* strategy : schedule::strategies())
    legal += strategy->legal(task).legal ? 1 : 0;
  if (legal < 2) return std::optional<Crossover>{};
  const Result<std::string> few = best_strategy(task, kFewest);
  if (!few) return few.error();
  const Result<std::string> many = best_strategy(task, kMost);
  if (!many) return many.error();
  int within = kFewest, beyond = kMost;
  while (*few != *many && beyond - within > 1) {
    const int middle = (within + beyond) / 2;
    const Result<std::string> best = best_strategy(task, middle);
    if (!best) return best.error();
    (*best == *few ? within : beyond) = middle;
  }
  return std::optional<Crossover>{{*few, *many, std::int64_t{1} << within}};
}

std::string print(const Crossover& crossover, const schedule::Problem& problem) {
  if (crossover.few == crossover.many)
    return fmt::format("by model, at T={}: {} for any number of channels\n", problem.sizes.time,
                       crossover.few);
  return fmt::format("by model, at T={}: {} up to {} channels (B * H * D), {} with more\n",
                     problem.sizes.time, crossover.few, crossover.channels, crossover.many);
}

}  // namespace rondo::engine
