// KernelIR expressions as C++ text.
#pragma once

#include <set>
#include <string>

#include "compiler/backend/cuda/math_table.h"
#include "compiler/backend/cuda/names.h"
#include "compiler/backend/cuda/precedence.h"
#include "compiler/backend/cuda/prelude.h"
#include "compiler/kernel/ir/ir.h"

namespace rondo::backend::cuda {

std::string_view type_name(kernel::Type type);  // bool, int, i64 (an alias to require()), float
// The float nearest to `value`, shortest digits that read back as the same float; infinities and NaN by their
// bits.
Text float_literal(double value);
Text integer_literal(std::int64_t value, bool wide);

// What the text of one kernel turned out to need, for what is printed above it.
struct Uses {
  std::set<int> named;  // indices of Kernel::named
  std::set<kernel::Builtin> builtins;
};

class ExpressionWriter {
 public:
  ExpressionWriter(const kernel::Kernel& kernel, const Names& names, Prelude& prelude, Uses& uses);

  Text write(kernel::ExprId id);
  // As an argument of a call, an index or a right-hand side: never in parentheses.
  std::string whole(kernel::ExprId id) { return write(id).text; }
  // A memory element: name[index].
  std::string element(const kernel::MemRef& place);
  // Where a part of a register array begins; an mbarrier.
  std::string address(const kernel::ArraySlice& slice);
  std::string address(const kernel::MbarrierRef& barrier);

 private:
  struct Visit;

  std::string at(kernel::ExprId id, Precedence at_least) { return operand(write(id), at_least); }
  // `a sign b`, operators of one precedence grouping to the left.
  Text infix(Text a, std::string_view sign, Text b, Precedence precedence);
  Text integer_infix(kernel::ExprId a, std::string_view sign, kernel::ExprId b, Precedence precedence);
  Text unwidened(kernel::ExprId id);
  bool surely_wide(kernel::ExprId id) const;
  // An F32 expression as a condition: x != 0, or the comparison itself.
  Text truth(kernel::ExprId id);
  bool is_condition(kernel::ExprId id) const;
  Text condition(const Form& form, const kernel::MathExpr& math);
  Text apply(const Form& form, const kernel::MathExpr& math);
  const Form& form_of(scalar::Op op) const;
  void require_type(kernel::Type type);

  const kernel::Kernel& kernel_;
  const Names& names_;
  Prelude& prelude_;
  Uses& uses_;
};

}  // namespace rondo::backend::cuda
