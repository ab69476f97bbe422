// One point of the space: a value for every variable, and the derived quantities that follow.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/constraint/expression.h"

namespace rondo::constraint {

// What an assignment needs of its system; it outlives the system it came from.
struct Names {
  struct Quantity {
    std::string name;
    Expr value;
    std::string description;  // in the user's words, with the unit
  };
  std::vector<Quantity> variables;
  std::vector<Quantity> definitions;
};

class Assignment {
 public:
  Assignment(std::shared_ptr<const Names> names, std::vector<Value> values)
      : names_(std::move(names)), values_(std::move(values)) {}

  // Value of a variable, or of a variable or derived quantity by name. std::logic_error for a name the system
  // does not have, and for a derived quantity without a value here (overflow, division by zero).
  Value operator[](const Var& var) const { return values_.at(var.index()); }
  Value operator[](std::string_view name) const;

  // Value of any expression or condition of the same system; nullopt or false where it has no value.
  std::optional<Value> value(const Expr& expr) const { return evaluate(*expr.node(), values_); }
  bool holds(const Condition& condition) const { return evaluate(*condition.node(), values_) == 1; }

  const std::vector<Value>& values() const { return values_; }  // in the order the variables were made
  std::vector<std::pair<std::string, Value>> items()
      const;                      // variables, then derived quantities with a value
  std::string to_string() const;  // "channels = 64, stages = 4, smem_bytes = 65536"

  friend bool operator==(const Assignment& a, const Assignment& b) { return a.values_ == b.values_; }

 private:
  friend class Search;
  std::shared_ptr<const Names> names_;
  std::vector<Value> values_;
};

}  // namespace rondo::constraint
