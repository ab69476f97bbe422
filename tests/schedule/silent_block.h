// A fault: block 0 of every launch never sends anything to another block, nor to itself.
#pragma once

#include <algorithm>

#include "compiler/schedule/plan/kernel_plan.h"

namespace rondo::schedule {

inline bool sends(const kernel::Kernel& kernel, const kernel::Stmt& stmt) {
  if (std::holds_alternative<kernel::StoreAsync>(stmt.node)) return true;
  const auto* store = std::get_if<kernel::StoreSelfFlagged>(&stmt.node);
  if (store == nullptr) return false;
  return std::none_of(store->values.begin(), store->values.end(), [&](kernel::ExprId value) {
    const auto* word = std::get_if<kernel::IntConst>(&kernel.expr(value).node);
    return word != nullptr && word->value == kernel::kEmpty;  // clears
  });
}

// Puts every send under `condition`. Returns how many there are.
inline int guard_sends(const kernel::Kernel& kernel, kernel::Body& body, kernel::ExprId condition) {
  int count = 0;
  for (kernel::Stmt& stmt : body) {
    if (auto* loop = std::get_if<kernel::For>(&stmt.node))
      count += guard_sends(kernel, loop->body, condition);
    if (auto* branch = std::get_if<kernel::If>(&stmt.node)) {
      count += guard_sends(kernel, branch->then_body, condition);
      count += guard_sends(kernel, branch->else_body, condition);
    }
    if (!sends(kernel, stmt)) continue;
    kernel::Body alone;
    alone.push_back(std::move(stmt));
    stmt.node = kernel::If{condition, std::move(alone), {}};
    ++count;
  }
  return count;
}

inline int silence_block(KernelPlan& plan) {
  int count = 0;
  for (Launch& launch : plan.launches) {
    kernel::Kernel& kernel = launch.kernel;
    const auto add = [&](kernel::Expr expr) {
      kernel.expressions.push_back(std::move(expr));
      return static_cast<kernel::ExprId>(kernel.expressions.size() - 1);
    };
    const auto block = add({kernel::Type::I32, kernel::BuiltinRead{kernel::Builtin::BlockX}});
    const auto zero = add({kernel::Type::I32, kernel::IntConst{0}});
    const auto speaks = add({kernel::Type::Pred, kernel::CompareExpr{kernel::Compare::Greater, block, zero}});
    count += guard_sends(kernel, kernel.body, speaks);
  }
  return count;
}

}  // namespace rondo::schedule
