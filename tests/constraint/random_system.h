// Random systems with an evaluator of their own: the oracle shares nothing with the library but the C++
// operators it is built from.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "compiler/constraint/system.h"

namespace rondo::constraint::test {

// A formula in the test's own form. `kind` is an operator's name; integers and conditions share the type.
struct Formula {
  std::string kind;
  Value number = 0;  // "const": the value; "var": the index
  std::vector<Formula> parts;
};

// Exact value, 0/1 for conditions, nullopt without value.
std::optional<Value> oracle(const Formula& formula, const std::vector<Value>& point);

Expr to_expr(const Formula& formula, const std::vector<Var>& variables);
Condition to_condition(const Formula& formula, const std::vector<Var>& variables);

struct RandomSystem {
  System system;
  std::vector<Formula> rules;

  // All solutions in lexicographic order, by trying every point.
  std::vector<std::vector<Value>> brute_force() const;
};

// Two to four variables over small sets, or (every eighth) two over up to 90 values; now and then with values
// near the ends of int64; one to four rules of nested operators.
RandomSystem random_system(std::uint64_t seed);

}  // namespace rondo::constraint::test
