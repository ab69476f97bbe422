#include "compiler/kernel/passes/integer.h"

#include <algorithm>

#include "compiler/kernel/ir/visit.h"

namespace rondo::kernel {

std::int64_t wrap(Type type, std::int64_t value) {
  if (type == Type::I32) return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
  if (type == Type::Pred) return value != 0 ? 1 : 0;
  return value;
}

std::optional<std::int64_t> fold(IntOp op, Type type, std::int64_t a, std::int64_t b) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  const std::int64_t width = type == Type::I32 ? 32 : 64;
  const auto wrapped = [type](std::uint64_t v) { return wrap(type, static_cast<std::int64_t>(v)); };
  switch (op) {
    case IntOp::Add: return wrapped(ua + ub);
    case IntOp::Sub: return wrapped(ua - ub);
    case IntOp::Mul: return wrapped(ua * ub);
    case IntOp::Div: return a < 0 || b <= 0 ? std::nullopt : std::optional(a / b);
    case IntOp::Mod: return a < 0 || b <= 0 ? std::nullopt : std::optional(a % b);
    case IntOp::Min: return std::min(a, b);
    case IntOp::Max: return std::max(a, b);
    case IntOp::Shl: return b < 0 || b >= width ? std::nullopt : std::optional(wrapped(ua << ub));
    case IntOp::Shr: return b < 0 || b >= width ? std::nullopt : std::optional(a >> b);
    case IntOp::And: return a & b;
    case IntOp::Or: return a | b;
    case IntOp::Xor: return a ^ b;
  }
  return std::nullopt;
}

bool fold(Compare op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Compare::Less: return a < b;
    case Compare::LessEqual: return a <= b;
    case Compare::Greater: return a > b;
    case Compare::GreaterEqual: return a >= b;
    case Compare::Equal: return a == b;
    case Compare::NotEqual: return a != b;
  }
  return false;
}

namespace {

struct Evaluator {
  const Kernel& kernel;
  const KnownRegister& known;
  using Value = std::optional<std::int64_t>;

  Value at(ExprId id) const {
    const Expr& expr = kernel.expr(id);
    return std::visit([&](const auto& node) { return visit(node, expr.type); }, expr.node);
  }

  Value visit(const IntConst& n, Type) const { return n.value; }
  Value visit(const RegRead& n, Type) const { return known ? known(n.reg) : std::nullopt; }
  Value visit(const IntExpr& n, Type type) const {
    const Value a = at(n.a), b = a ? at(n.b) : std::nullopt;
    return b ? fold(n.op, type, *a, *b) : std::nullopt;
  }
  Value visit(const CompareExpr& n, Type) const {
    const Value a = at(n.a), b = a ? at(n.b) : std::nullopt;
    return b ? Value(fold(n.op, *a, *b)) : std::nullopt;
  }
  Value visit(const LogicExpr& n, Type) const {
    const Value a = at(n.a);
    if (n.op == Logic::Not) return a ? Value(*a == 0) : std::nullopt;
    const std::int64_t decisive = n.op == Logic::Or ? 1 : 0;  // either side alone settles the result
    if (a == decisive) return decisive;
    const Value b = at(n.b);
    if (b == decisive) return decisive;
    return a && b ? Value(1 - decisive) : std::nullopt;
  }
  Value visit(const CastExpr& n, Type type) const {
    if (is_real(type)) return std::nullopt;
    const Value a = at(n.a);
    return a ? Value(wrap(type, *a)) : std::nullopt;
  }
  Value visit(const SelectExpr& n, Type type) const {
    if (is_real(type)) return std::nullopt;
    const Value condition = at(n.condition);
    return condition ? at(*condition != 0 ? n.a : n.b) : std::nullopt;
  }
  Value visit(const FloatConst&, Type) const { return std::nullopt; }
  Value visit(const ArrayRead&, Type) const { return std::nullopt; }
  Value visit(const ParamRead&, Type) const { return std::nullopt; }
  Value visit(const BuiltinRead&, Type) const { return std::nullopt; }
  Value visit(const MathExpr&, Type) const { return std::nullopt; }
  Value visit(const PackExpr&, Type) const { return std::nullopt; }
  Value visit(const UnpackExpr&, Type) const { return std::nullopt; }
  Value visit(const RoundExpr&, Type) const { return std::nullopt; }
  Value visit(const UniformExpr&, Type) const { return std::nullopt; }
};

}  // namespace

std::optional<std::int64_t> constant_value(const Kernel& kernel, ExprId id, const KnownRegister& known) {
  return Evaluator{kernel, known}.at(id);
}

}  // namespace rondo::kernel
