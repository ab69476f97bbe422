// Walking KernelIR: the operands of an expression, the expressions and nested bodies of a statement. Every
// pass that does not care what a node computes goes through these, so a new node is added here once.
#pragma once

#include <type_traits>
#include <variant>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// std::visit(Overloaded{[](const Let&) {...}, ...}, stmt.node): a forgotten alternative does not compile.
template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

namespace detail {

// One overload set for const and mutable nodes: N is `T` or `const T`.
template <class N, class T>
concept Node = std::is_same_v<std::remove_const_t<N>, T>;

template <class F>
struct Operands {
  F& f;
  void operator()(Node<IntConst> auto&) {}
  void operator()(Node<FloatConst> auto&) {}
  void operator()(Node<RegRead> auto&) {}
  void operator()(Node<ParamRead> auto&) {}
  void operator()(Node<BuiltinRead> auto&) {}
  void operator()(Node<ArrayRead> auto& n) { f(n.index); }
  void operator()(Node<IntExpr> auto& n) { f(n.a), f(n.b); }
  void operator()(Node<CompareExpr> auto& n) { f(n.a), f(n.b); }
  void operator()(Node<LogicExpr> auto& n) {
    f(n.a);
    if (n.op != Logic::Not) f(n.b);
  }
  void operator()(Node<MathExpr> auto& n) {
    for (auto& a : n.args) f(a);
  }
  void operator()(Node<CastExpr> auto& n) { f(n.a); }
  void operator()(Node<SelectExpr> auto& n) { f(n.condition), f(n.a), f(n.b); }
  void operator()(Node<PackExpr> auto& n) { f(n.low), f(n.high); }
  void operator()(Node<UnpackExpr> auto& n) { f(n.pair); }
  void operator()(Node<RoundExpr> auto& n) { f(n.a); }
  void operator()(Node<UniformExpr> auto& n) { f(n.seed), f(n.row), f(n.step), f(n.head), f(n.channel); }
};

template <class F>
struct Roots {
  F& f;
  void operator()(Node<Let> auto& s) { f(s.value); }
  void operator()(Node<Variable> auto& s) { f(s.initial); }
  void operator()(Node<Assign> auto& s) { f(s.value); }
  void operator()(Node<DeclareArray> auto&) {}
  void operator()(Node<ArrayWrite> auto& s) { f(s.index), f(s.value); }
  void operator()(Node<Load> auto& s) { f(s.from.index); }
  void operator()(Node<Store> auto& s) {
    f(s.to.index);
    for (auto& value : s.values) f(value);
  }
  void operator()(Node<Prefetch> auto& s) { f(s.from.index); }
  void operator()(Node<CopyAsync> auto& s) { f(s.to.index), f(s.from.index); }
  void operator()(Node<CommitCopies> auto&) {}
  void operator()(Node<WaitCopies> auto&) {}
  void operator()(Node<Barrier> auto&) {}
  void operator()(Node<WarpSync> auto&) {}
  void operator()(Node<ClusterBarrier> auto&) {}
  void operator()(Node<Shuffle> auto& s) { f(s.from), f(s.lane); }
  void operator()(Node<Ballot> auto& s) { f(s.predicate); }
  void operator()(Node<Mma> auto& s) { f(s.acc.first), f(s.a.first), f(s.b.first); }
  void operator()(Node<LoadMatrix> auto& s) { f(s.into.first), f(s.row.index); }
  void operator()(Node<WarpgroupMma> auto& s) { f(s.acc.first), f(s.a.first.index), f(s.b.first.index); }
  void operator()(Node<WgmmaWait> auto&) {}
  void operator()(Node<ProxyFence> auto&) {}
  void operator()(Node<TileMma> auto& s) { f(s.steps), f(s.sums.index), f(s.a.index), f(s.b.index); }
  void operator()(Node<PackTile> auto& s) { f(s.to.index), f(s.from.index); }
  void operator()(Node<MbarrierArrive> auto& s) {
    f(s.barrier.index);
    if (s.rank >= 0) f(s.rank);  // -1: the own block
  }
  void operator()(Node<MbarrierExpect> auto& s) { f(s.barrier.index), f(s.bytes); }
  void operator()(Node<MbarrierWait> auto& s) { f(s.barrier.index), f(s.parity); }
  void operator()(Node<StoreAsync> auto& s) {
    f(s.to.index), f(s.rank), f(s.barrier.index);
    for (auto& value : s.values) f(value);
  }
  void operator()(Node<GridArrive> auto& s) { f(s.counter.index); }
  void operator()(Node<GridWait> auto& s) { f(s.counter.index), f(s.target); }
  void operator()(Node<StoreSelfFlagged> auto& s) {
    f(s.to.index);
    for (auto& value : s.values) f(value);
  }
  void operator()(Node<LoadSelfFlagged> auto& s) { f(s.into.first), f(s.from.index), f(s.stride); }
  void operator()(Node<GridFence> auto&) {}
  void operator()(Node<SetMaxNReg> auto&) {}
  void operator()(Node<For> auto& s) { f(s.begin), f(s.end), f(s.step); }
  void operator()(Node<If> auto& s) { f(s.condition); }
  void operator()(Node<Comment> auto&) {}
};

}  // namespace detail

// Calls f(id) on each operand of the expression, left to right. With a mutable expression f may take ExprId&
// and change it.
template <class E, class F>
requires detail::Node<E, Expr>
void for_each_operand(E& expr, F&& f) {
  std::visit(detail::Operands<std::remove_reference_t<F>>{f}, expr.node);
}

// Calls f(id) on each expression the statement itself evaluates (not those of nested bodies). Mutable as
// above.
template <class S, class F>
requires detail::Node<S, Stmt>
void for_each_expression(S& stmt, F&& f) {
  std::visit(detail::Roots<std::remove_reference_t<F>>{f}, stmt.node);
}

// Calls f(stmt) on every statement of the body, nested ones after what they stand in. Mutable as above.
template <class B, class F>
requires detail::Node<B, Body>
void for_each_statement(B& body, F&& f) {
  for (auto& stmt : body) {
    f(stmt);
    if (auto* loop = std::get_if<For>(&stmt.node)) for_each_statement(loop->body, f);
    if (auto* branch = std::get_if<If>(&stmt.node)) {
      for_each_statement(branch->then_body, f);
      for_each_statement(branch->else_body, f);
    }
  }
}

}  // namespace rondo::kernel
