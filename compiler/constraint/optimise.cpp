#include "compiler/constraint/optimise.h"

#include <numeric>

#include "compiler/constraint/propagate.h"

namespace rondo::constraint {

Result<std::optional<Least>> least(const System& system, const Expr& expression, const Limits& limits) {
  Budget budget(limits);
  return least(system, expression, budget);
}

// Bisection: each search either finds a smaller value or proves that there is none up to the middle. It takes
// at most 65 searches, whatever the range.
Result<std::optional<Least>> least(const System& system, const Expr& expression, Budget& budget) {
  Propagator root(system);
  if (!root.propagate_all()) return std::optional<Least>();
  Value proven = root.bounds_of(*expression.node()).range.lo;  // nothing lies below
  Value tried = kMost;  // the first search only asks that there is a value
  std::optional<Least> best;
  while (!best || proven < best->value) {
    System bounded = system;
    bounded.require(expression <= tried, "objective");
    const First found = budget.first_solution(bounded);
    if (cut_short(found.stats)) {
      return Error{ErrorKind::Cancelled, "the search for the least value reached its limit",
                   "raise the limit"};
    }
    if (found.solution) {
      best = Least{*found.solution->value(expression), *found.solution};
    } else if (best) {
      proven = tried + 1;
    } else {
      return std::optional<Least>();
    }
    tried = std::midpoint(proven, best->value);  // rounds towards proven: always below the best so far
  }
  return best;
}

}  // namespace rondo::constraint
