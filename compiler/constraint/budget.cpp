#include "compiler/constraint/budget.h"

#include <algorithm>

namespace rondo::constraint {

First Budget::first_solution(const System& system, unsigned parts) {
  Limits now = limits_;
  now.nodes /= parts;
  if (now.time != std::chrono::nanoseconds::max()) {
    const std::chrono::nanoseconds used = std::chrono::steady_clock::now() - start_;
    now.time = std::max(now.time - used, std::chrono::nanoseconds(0)) / parts;
  }
  First first;
  first.stats = enumerate(
      system,
      [&](const Assignment& found) {
        first.solution = found;
        return false;
      },
      now);
  limits_.nodes -= std::min(limits_.nodes, first.stats.nodes);
  return first;
}

bool cut_short(const SearchStats& stats) {
  return stats.outcome == Outcome::NodeLimit || stats.outcome == Outcome::TimeLimit;
}

}  // namespace rondo::constraint
