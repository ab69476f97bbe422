// Rebuilds expressions in a new table, folding as it goes: the expression half of simplify().
#pragma once

#include <optional>
#include <vector>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// Reads expressions of `from`, writes simplified ones to the table of `to` (which starts without
// expressions, and has the registers). Only what is asked for is written, so dead expressions disappear.
class ExpressionSimplifier {
 public:
  ExpressionSimplifier(const Kernel& from, Kernel& to);

  // Id in `to` of the simplified expression `id` of `from`.
  ExprId simplify(ExprId id);
  // From now on reads of `reg` become the expression `value` of `to` (a constant).
  void replace(RegId reg, ExprId value);
  // Value of an expression of `to` known at compile time.
  std::optional<std::int64_t> known(ExprId id) const { return known_[static_cast<std::size_t>(id)]; }
  // Whether `id` of `to` is an integer or float constant node.
  bool is_constant(ExprId id) const;
  // !condition, in `to`.
  ExprId negate(ExprId condition);

 private:
  ExprId add(Expr expr);
  ExprId fold_integer(Type type, const IntExpr& n);
  ExprId fold_logic(const LogicExpr& n);
  ExprId fold_math(Type type, const MathExpr& n);
  ExprId fold_cast(Type type, const CastExpr& n);
  ExprId rebuild(ExprId id);
  std::optional<double> real(ExprId id) const;
  bool is_named(ExprId id) const { return named_[static_cast<std::size_t>(id)]; }

  const Kernel& from_;
  Kernel& to_;
  std::vector<int> name_of_;                        // by id in `from`: index into named, or -1
  std::vector<ExprId> done_;                        // by id in `from`: id in `to`, or -1
  std::vector<ExprId> replaced_;                    // by register: id in `to`, or -1
  std::vector<std::optional<std::int64_t>> known_;  // by id in `to`
  std::vector<bool> named_;  // by id in `to`: holds a named constant, so its text is kept
};

}  // namespace rondo::kernel
