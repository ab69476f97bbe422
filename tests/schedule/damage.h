// Ways to damage a kernel in one place, by what its statements are.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "compiler/kernel/ir/ir.h"
#include "compiler/kernel/ir/visit.h"

namespace rondo::schedule {

using kernel::Body;
using kernel::ExprId;
using kernel::Kernel;
using kernel::Stmt;

inline bool is_named(const Kernel& kernel, const kernel::MbarrierRef& barrier, const std::string& name) {
  return kernel.mbarriers[static_cast<std::size_t>(barrier.id)].name == name;
}

// Calls `change` on every body, the innermost first.
inline void each_body(Body& body, const std::function<void(Body&)>& change) {
  for (Stmt& stmt : body) {
    if (auto* loop = std::get_if<kernel::For>(&stmt.node)) each_body(loop->body, change);
    if (auto* branch = std::get_if<kernel::If>(&stmt.node)) {
      each_body(branch->then_body, change);
      each_body(branch->else_body, change);
    }
  }
  change(body);
}

template <class Node>
void each(Kernel& kernel, const std::function<void(Node&)>& change) {
  each_body(kernel.body, [&](Body& body) {
    for (Stmt& stmt : body)
      if (auto* node = std::get_if<Node>(&stmt.node)) change(*node);
  });
}

template <class Node>
void drop(
    Kernel& kernel, const std::function<bool(const Node&)>& which = [](const Node&) { return true; }) {
  each_body(kernel.body, [&](Body& body) {
    std::erase_if(body, [&](const Stmt& stmt) {
      const auto* node = std::get_if<Node>(&stmt.node);
      return node != nullptr && which(*node);
    });
  });
}

// Index expressions of loads from and stores to a shared array.
inline void each_access(Kernel& kernel, const std::string& array,
                        const std::function<void(ExprId&)>& change) {
  const auto of_array = [&](kernel::MemRef& memory) {
    if (memory.space == kernel::Space::Shared &&
        kernel.shared[static_cast<std::size_t>(memory.id)].name == array)
      change(memory.index);
  };
  each<kernel::Store>(kernel, [&](auto& store) { of_array(store.to); });
  each<kernel::Load>(kernel, [&](auto& load) { of_array(load.from); });
}

inline ExprId constant(Kernel& kernel, std::int64_t value) {
  kernel.expressions.push_back({kernel::Type::I32, kernel::IntConst{value}});
  return static_cast<ExprId>(kernel.expressions.size()) - 1;
}

// The expression with every remainder by the number of slots taken for zero.
inline ExprId without_turns(Kernel& kernel, ExprId id, int slot_count) {
  kernel::Expr copy = kernel.expr(id);
  if (const auto* rest = std::get_if<kernel::IntExpr>(&copy.node); rest && rest->op == kernel::IntOp::Mod)
    if (const auto* slots = std::get_if<kernel::IntConst>(&kernel.expr(rest->b).node);
        slots && slots->value == slot_count)
      return constant(kernel, 0);
  kernel::for_each_operand(copy,
                           [&](ExprId& operand) { operand = without_turns(kernel, operand, slot_count); });
  kernel.expressions.push_back(std::move(copy));
  return static_cast<ExprId>(kernel.expressions.size()) - 1;
}

}  // namespace rondo::schedule
