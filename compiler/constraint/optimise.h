// The least value an expression takes over the solutions of a system.
#pragma once

#include <optional>

#include "compiler/constraint/budget.h"
#include "compiler/constraint/solver.h"

namespace rondo::constraint {

struct Least {
  Value value = 0;
  Assignment at;  // one solution where the expression has that value
};

// nullopt if no solution gives the expression a value. Error of kind Cancelled at a limit, which covers all
// the searches together.
Result<std::optional<Least>> least(const System& system, const Expr& expression, const Limits& limits = {});
Result<std::optional<Least>> least(const System& system, const Expr& expression, Budget& budget);

}  // namespace rondo::constraint
