#include "compiler/kernel/passes/simplify.h"

#include <algorithm>
#include <utility>

#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/simplify_expression.h"

namespace rondo::kernel {

namespace {

// Forward over the statements: expressions are rebuilt, decided control flow goes, constant Lets are read
// through.
class Folder {
 public:
  Folder(const Kernel& from, Kernel& to) : expressions_(from, to) {}

  Body body(const Body& statements) {
    Body out;
    add(statements, out);
    return out;
  }

  ExprId negate(ExprId condition) { return expressions_.negate(condition); }

 private:
  void add(const Body& statements, Body& out) {
    for (const Stmt& stmt : statements)
      if (const auto* loop = std::get_if<For>(&stmt.node))
        fold(*loop, out);
      else if (const auto* branch = std::get_if<If>(&stmt.node))
        fold(*branch, out);
      else
        fold(stmt, out);
  }

  void fold(Stmt stmt, Body& out) {
    for_each_expression(stmt, [&](ExprId& id) { id = expressions_.simplify(id); });
    if (const auto* let = std::get_if<Let>(&stmt.node);
        let != nullptr && expressions_.is_constant(let->value))
      expressions_.replace(let->reg, let->value);
    out.push_back(std::move(stmt));
  }

  void fold(const For& loop, Body& out) {
    For copy{loop.variable,
             expressions_.simplify(loop.begin),
             expressions_.simplify(loop.end),
             expressions_.simplify(loop.step),
             loop.unroll,
             {}};
    const auto begin = expressions_.known(copy.begin), end = expressions_.known(copy.end);
    const auto step = expressions_.known(copy.step);
    if (begin && end && *begin >= *end) return;
    if (begin && end && step && *step > 0 && *begin + *step >= *end) {
      expressions_.replace(loop.variable, copy.begin);
      return add(loop.body, out);
    }
    copy.body = body(loop.body);
    out.push_back({std::move(copy)});
  }

  void fold(const If& branch, Body& out) {
    const ExprId condition = expressions_.simplify(branch.condition);
    if (const auto known = expressions_.known(condition))
      return add(*known != 0 ? branch.then_body : branch.else_body, out);
    out.push_back({If{condition, body(branch.then_body), body(branch.else_body), branch.cold}});
  }

  ExpressionSimplifier expressions_;
};

// Backward over the statements: a Let is read only by what follows it in its scope, so one pass sees every
// reader first.
class Sweeper {
 public:
  Sweeper(const Kernel& kernel, Folder& folder)
      : kernel_(kernel), folder_(folder), read_(kernel.registers.size(), false) {}

  Body body(Body statements) {
    Body out;
    for (auto stmt = statements.rbegin(); stmt != statements.rend(); ++stmt)
      if (keep(*stmt)) {
        for_each_expression(*stmt, [&](ExprId id) { mark(id); });
        out.push_back(std::move(*stmt));
      }
    std::ranges::reverse(out);
    return out;
  }

 private:
  static bool empty(const Body& statements) {
    return std::ranges::all_of(statements,
                               [](const Stmt& stmt) { return std::holds_alternative<Comment>(stmt.node); });
  }

  bool keep(Stmt& stmt) {
    if (const auto* let = std::get_if<Let>(&stmt.node)) return read_[static_cast<std::size_t>(let->reg)];
    if (auto* loop = std::get_if<For>(&stmt.node)) {
      loop->body = body(std::move(loop->body));
      return !empty(loop->body);
    }
    if (auto* branch = std::get_if<If>(&stmt.node)) {
      branch->then_body = body(std::move(branch->then_body));
      branch->else_body = body(std::move(branch->else_body));
      if (empty(branch->else_body)) branch->else_body.clear();
      if (!empty(branch->then_body)) return true;
      if (branch->else_body.empty()) return false;
      branch->then_body = std::move(branch->else_body);
      branch->else_body.clear();
      branch->condition = folder_.negate(branch->condition);
    }
    return true;
  }

  void mark(ExprId id) {
    const Expr& expr = kernel_.expr(id);
    if (const auto* read = std::get_if<RegRead>(&expr.node))
      read_[static_cast<std::size_t>(read->reg)] = true;
    for_each_operand(expr, [&](ExprId operand) { mark(operand); });
  }

  const Kernel& kernel_;
  Folder& folder_;
  std::vector<bool> read_;
};

// Expressions that were folded into others or belonged to dead statements leave the table; the rest keeps its
// order.
void drop_unused_expressions(Kernel& kernel) {
  const auto index = [](ExprId id) { return static_cast<std::size_t>(id); };
  std::vector<ExprId> moved(kernel.expressions.size(), -1);
  for_each_statement(
      kernel.body, [&](Stmt& stmt) { for_each_expression(stmt, [&](ExprId id) { moved[index(id)] = 0; }); });
  for (std::size_t i = moved.size(); i-- > 0;)
    if (moved[i] == 0) for_each_operand(kernel.expressions[i], [&](ExprId id) { moved[index(id)] = 0; });
  std::vector<Expr> kept;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (moved[i] < 0) continue;
    moved[i] = static_cast<ExprId>(kept.size());
    for_each_operand(kernel.expressions[i], [&](ExprId& id) { id = moved[index(id)]; });
    kept.push_back(std::move(kernel.expressions[i]));
  }
  kernel.expressions = std::move(kept);
  for_each_statement(kernel.body, [&](Stmt& stmt) {
    for_each_expression(stmt, [&](ExprId& id) { id = moved[index(id)]; });
  });
  std::erase_if(kernel.named_uses, [&](const auto& use) { return moved[index(use.first)] < 0; });
  for (auto& [id, name] : kernel.named_uses) id = moved[index(id)];
}

// Named constants nobody writes any more would be dead lines of the emitted text.
void drop_unused_names(Kernel& kernel) {
  std::vector<int> moved(kernel.named.size(), -1);
  std::vector<NamedInt> kept;
  for (const auto& [id, name] : kernel.named_uses) moved[static_cast<std::size_t>(name)] = 0;
  for (std::size_t i = 0; i < moved.size(); ++i)
    if (moved[i] == 0) {
      moved[i] = static_cast<int>(kept.size());
      kept.push_back(std::move(kernel.named[i]));
    }
  for (auto& [id, name] : kernel.named_uses) name = moved[static_cast<std::size_t>(name)];
  kernel.named = std::move(kept);
}

}  // namespace

Kernel simplify(Kernel kernel) {
  Kernel from;  // of it what is rebuilt
  from.expressions = std::exchange(kernel.expressions, {});
  from.named_uses = std::exchange(kernel.named_uses, {});
  from.body = std::exchange(kernel.body, {});
  Folder folder(from, kernel);
  kernel.body = folder.body(from.body);
  kernel.body = Sweeper(kernel, folder).body(std::move(kernel.body));
  drop_unused_expressions(kernel);
  drop_unused_names(kernel);
  return kernel;
}

}  // namespace rondo::kernel
