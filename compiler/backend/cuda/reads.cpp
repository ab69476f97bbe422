#include "compiler/backend/cuda/reads.h"

#include "compiler/kernel/ir/visit.h"

namespace rondo::backend::cuda {

using namespace kernel;

std::vector<int> reads_of(const Kernel& kernel) {
  std::vector<int> reads(kernel.registers.size(), 0);
  const auto count = [&](auto& self, ExprId id) -> void {
    const Expr& expr = kernel.expr(id);
    if (const auto* read = std::get_if<RegRead>(&expr.node)) ++reads[static_cast<std::size_t>(read->reg)];
    for_each_operand(expr, [&](ExprId operand) { self(self, operand); });
  };
  const auto walk = [&](auto& self, const Body& body) -> void {
    for (const Stmt& stmt : body) {
      for_each_expression(stmt, [&](ExprId id) { count(count, id); });
      if (const auto* loop = std::get_if<For>(&stmt.node)) self(self, loop->body);
      if (const auto* branch = std::get_if<If>(&stmt.node))
        self(self, branch->then_body), self(self, branch->else_body);
    }
  };
  walk(walk, kernel.body);
  return reads;
}

}  // namespace rondo::backend::cuda
