#include "compiler/constraint/optimise.h"

namespace rondo::constraint {

Result<std::optional<Least>> least(const System& system, const Expr& expression, const Limits& limits) {
  Budget budget(limits);
  return least(system, expression, budget);
}

Result<std::optional<Least>> least(const System& system, const Expr& expression, Budget& budget) {
  const First found = budget.least_solution(system, expression);
  if (cut_short(found.stats))
    return Error{ErrorKind::Cancelled, "the search for the least value reached its limit", "raise the limit"};
  if (!found.solution) return std::optional<Least>();
  return std::optional<Least>({*found.solution->value(expression), *found.solution});
}

}  // namespace rondo::constraint
