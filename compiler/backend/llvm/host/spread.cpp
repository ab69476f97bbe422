#include "compiler/backend/llvm/host/spread.h"

#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/integer.h"

namespace rondo::backend::host {

using namespace kernel;

namespace {

// The spread of a node, of those of its operands.
struct OfNode {
  const Spreads& spreads;
  const Kernel& kernel;

  Spread operator()(const IntConst&) const { return Spread::uniform(); }
  Spread operator()(const FloatConst&) const { return Spread::uniform(); }
  Spread operator()(const RegRead& e) const { return spreads.of_register(e.reg); }
  Spread operator()(const ArrayRead&) const { return Spread::varying(); }
  Spread operator()(const ParamRead&) const { return Spread::uniform(); }
  Spread operator()(const BuiltinRead& e) const {
    return e.builtin == Builtin::ThreadX ? Spread::strided(1) : Spread::uniform();
  }
  Spread operator()(const IntExpr& e) const {
    const Spread a = spreads.of(e.a), b = spreads.of(e.b);
    if (a.is_varying() || b.is_varying()) return Spread::varying();
    if (e.op == IntOp::Add) return Spread::strided(a.stride + b.stride);
    if (e.op == IntOp::Sub) return Spread::strided(a.stride - b.stride);
    if (a.is_uniform() && b.is_uniform()) return Spread::uniform();
    if (e.op == IntOp::Mul) {
      if (const auto factor = constant_value(kernel, e.b)) return Spread::strided(a.stride * *factor);
      if (const auto factor = constant_value(kernel, e.a)) return Spread::strided(b.stride * *factor);
    }
    return Spread::varying();
  }
  Spread operator()(const CastExpr& e) const {
    const Spread a = spreads.of(e.a);
    return a.is_uniform() || !to_float ? a : Spread::varying();
  }
  Spread operator()(const MathExpr&) const { return Spread::varying(); }
  Spread operator()(const UniformExpr&) const { return Spread::varying(); }
  Spread operator()(const auto& e) const {
    bool uniform = true;
    Expr expr{Type::I32, e};
    for_each_operand(static_cast<const Expr&>(expr),
                     [&](ExprId operand) { uniform = uniform && spreads.of(operand).is_uniform(); });
    return uniform ? Spread::uniform() : Spread::varying();
  }
  bool to_float = false;
};

}  // namespace

Spreads::Spreads(const Kernel& kernel)
    : kernel_(kernel), registers_(kernel.registers.size()), declared_in_(kernel.registers.size(), nullptr) {
  do {
    changed_ = false;
    visit(kernel.body, nullptr);
  } while (changed_);
}

Spread Spreads::of(ExprId id) const {
  const Expr& expr = kernel_.expr(id);
  return std::visit(OfNode{*this, kernel_, is_real(expr.type)}, expr.node);
}

void Spreads::join(RegId reg, Spread spread) {
  Spread& known = registers_[static_cast<std::size_t>(reg)];
  if (spread.kind == Spread::Kind::None || known == spread || known.is_varying()) return;
  known = known.kind == Spread::Kind::None ? spread : Spread::varying();
  changed_ = true;
}

void Spreads::visit(const For& loop, Region region) {
  const Spread begin = of(loop.begin);
  join(loop.variable, begin);
  declared_in_[static_cast<std::size_t>(loop.variable)] = region;
  visit(loop.body, begin.is_uniform() ? region : &loop.body);
}

void Spreads::visit(const Body& body, Region region) {
  const auto declare = [&](RegId reg, Spread spread) {
    declared_in_[static_cast<std::size_t>(reg)] = region;
    join(reg, spread);
  };
  for (const Stmt& stmt : body)
    std::visit(Overloaded{
                   [&](const Let& s) { declare(s.reg, of(s.value)); },
                   [&](const Variable& s) { declare(s.reg, of(s.initial)); },
                   [&](const Assign& s) {
                     join(s.reg, is_blended(s.reg, region) ? Spread::varying() : of(s.value));
                   },
                   [&](const Load& s) {
                     const bool uniform = of(s.from.index).is_uniform();
                     for (const RegId reg : s.into)
                       declare(reg, uniform ? Spread::uniform() : Spread::varying());
                   },
                   [&](const Shuffle& s) { declare(s.into, Spread::varying()); },
                   [&](const Ballot& s) { declare(s.into, Spread::uniform()); },
                   [&](const For& s) { visit(s, region); },
                   [&](const If& s) {
                     const bool masks = !of(s.condition).is_uniform();
                     visit(s.then_body, masks ? &s.then_body : region);
                     visit(s.else_body, masks ? &s.else_body : region);
                   },
                   [](const auto&) {},
               },
               stmt.node);
}

}  // namespace rondo::backend::host
