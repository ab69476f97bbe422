#include "compiler/constraint/budget.h"

#include <algorithm>

namespace rondo::constraint {

Limits Budget::part(unsigned parts) const {
  Limits now = limits_;
  now.nodes /= parts;
  now.work /= parts;
  if (now.time != std::chrono::nanoseconds::max()) {
    const std::chrono::nanoseconds used = std::chrono::steady_clock::now() - start_;
    now.time = std::max(now.time - used, std::chrono::nanoseconds(0)) / parts;
  }
  return now;
}

First Budget::first_solution(const System& system, unsigned parts) {
  First first;
  const Visit keep = [&](const Assignment& found) {
    first.solution = found;
    return false;
  };
  first.stats = enumerate(system, keep, part(parts));
  spend(first.stats);
  return first;
}

First Budget::least_solution(const System& system, const Expr& objective, unsigned parts) {
  First least;
  const Visit keep = [&](const Assignment& found) {
    least.solution = found;
    return true;
  };
  least.stats = descend(system, objective, keep, part(parts));
  spend(least.stats);
  return least;
}

void Budget::spend(const SearchStats& stats) {
  limits_.nodes -= std::min(limits_.nodes, stats.nodes);
  limits_.work -= std::min(limits_.work, stats.work);
}

bool cut_short(const SearchStats& stats) {
  return stats.outcome != Outcome::Complete && stats.outcome != Outcome::Stopped;
}

}  // namespace rondo::constraint
