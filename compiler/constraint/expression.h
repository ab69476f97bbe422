// The constraint language: integer expressions and conditions over named variables, written with the usual
// C++ operators. Expressions are immutable values; copies share their nodes.
//
// Meaning: every expression is an exact int64 or has no value (a result outside int64, a division by zero). A
// comparison of something without a value is neither true nor false; and, or, not follow Kleene's
// three-valued logic. A constraint holds only where it is true.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compiler/constraint/checked.h"

namespace rondo::constraint {

enum class Op {
  Constant,
  Variable,
  Named,  // leaves, and a derived quantity with a name
  Add,
  Sub,
  Mul,
  FloorDiv,
  CeilDiv,
  Mod,
  Min,
  Max,   // integer from integers
  When,  // children: condition, value if true, value if false
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Divides,  // condition from integers
  And,
  Or,
  Not,
  Implies,  // condition from conditions
};

struct Node {
  Op op = Op::Constant;
  Value constant = 0;        // Constant
  std::size_t variable = 0;  // Variable: its index in the system
  std::string name;          // Variable, Named
  std::vector<std::shared_ptr<const Node>> children;
};
using NodePtr = std::shared_ptr<const Node>;

// An integer expression. Converts from any integer type; std::logic_error if the constant does not fit int64.
class Expr {
 public:
  template <std::integral T>
  Expr(T constant)
      : node_(constant_node(checked_constant(constant))) {}  // NOLINT: literals read as expressions
  explicit Expr(NodePtr node) : node_(std::move(node)) {}
  const NodePtr& node() const { return node_; }

 private:
  template <std::integral T>
  static Value checked_constant(T constant) {
    if constexpr (!std::same_as<T, bool>) {
      if (!std::in_range<Value>(constant)) throw std::logic_error("constraint constant does not fit int64");
    }
    return static_cast<Value>(constant);
  }
  static NodePtr constant_node(Value constant);
  NodePtr node_;
};

// A variable of one System (System::var makes it). Only that system, or a copy of it, accepts it.
class Var : public Expr {
 public:
  Var(std::size_t index, const std::string& name);
  std::size_t index() const { return node()->variable; }
  const std::string& name() const { return node()->name; }
};

// A statement about expressions. && and || build a condition; both sides are always built.
class Condition {
 public:
  explicit Condition(NodePtr node) : node_(std::move(node)) {}
  const NodePtr& node() const { return node_; }

 private:
  NodePtr node_;
};

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator*(const Expr& a, const Expr& b);
Expr floor_div(const Expr& a, const Expr& b);  // rounds towards minus infinity
Expr ceil_div(const Expr& a, const Expr& b);   // rounds towards plus infinity
Expr mod(const Expr& a, const Expr& b);        // a - b * floor_div(a, b): has the sign of b
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);
Expr when(const Condition& condition, const Expr& yes,
          const Expr& no);  // the branch not taken may lack a value

Condition operator==(const Expr& a, const Expr& b);
Condition operator!=(const Expr& a, const Expr& b);
Condition operator<(const Expr& a, const Expr& b);
Condition operator<=(const Expr& a, const Expr& b);
Condition operator>(const Expr& a, const Expr& b);
Condition operator>=(const Expr& a, const Expr& b);
Condition divides(const Expr& divisor,
                  const Expr& number);  // number is a multiple of divisor, which is not 0
Condition operator&&(const Condition& a, const Condition& b);
Condition operator||(const Condition& a, const Condition& b);
Condition operator!(const Condition& a);
Condition implies(const Condition& premise, const Condition& conclusion);
Condition one_of(const Expr& a, std::span<const Value> values);  // equal to one of at least one values

// Value of an expression, or 0 / 1 of a condition, where variable i is values[i]; nullopt where there is
// none.
std::optional<Value> evaluate(const Node& node, std::span<const Value> values);

// Infix text with the fewest brackets; named quantities appear by name.
std::string to_string(const Node& node);
std::string to_string(const Expr& expr);
std::string to_string(const Condition& condition);

}  // namespace rondo::constraint
