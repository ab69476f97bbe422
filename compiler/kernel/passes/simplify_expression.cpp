#include "compiler/kernel/passes/simplify_expression.h"

#include <array>
#include <bit>
#include <cmath>

#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/integer.h"

namespace rondo::kernel {

namespace {

// a op b where it is simply one of them or a constant for every value of the other; ids are of the new table.
enum class Identity { None, A, B, Zero };

Identity identity(IntOp op, std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  switch (op) {
    case IntOp::Add:
    case IntOp::Or:
    case IntOp::Xor: return b == 0 ? Identity::A : a == 0 ? Identity::B : Identity::None;
    case IntOp::Sub:
    case IntOp::Shl:
    case IntOp::Shr: return b == 0 ? Identity::A : Identity::None;
    case IntOp::Mul:
      if (a == 0 || b == 0) return Identity::Zero;
      return b == 1 ? Identity::A : a == 1 ? Identity::B : Identity::None;
    case IntOp::Div: return b == 1 ? Identity::A : Identity::None;
    case IntOp::Mod: return b == 1 ? Identity::Zero : Identity::None;
    case IntOp::And: return a == 0 || b == 0 ? Identity::Zero : Identity::None;
    case IntOp::Min:
    case IntOp::Max: return Identity::None;
  }
  return Identity::None;
}

// The same for floats, where only what holds for every bit pattern counts: x + 0 is not x for x = -0, x + -0
// is.
Identity identity(scalar::Op op, std::optional<double> a, std::optional<double> b) {
  const auto is = [](std::optional<double> x, double value) {
    return x && std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(value);
  };
  switch (op) {
    case scalar::Op::Add: return is(b, -0.0) ? Identity::A : is(a, -0.0) ? Identity::B : Identity::None;
    case scalar::Op::Sub: return is(b, 0.0) ? Identity::A : Identity::None;
    case scalar::Op::Mul: return is(b, 1.0) ? Identity::A : is(a, 1.0) ? Identity::B : Identity::None;
    case scalar::Op::Div: return is(b, 1.0) ? Identity::A : Identity::None;
    default: return Identity::None;
  }
}

// As the type holds it.
double held(Type type, double value) {
  return type == Type::F64 ? value : static_cast<double>(static_cast<float>(value));
}

// What the op gives in the type.
template <class Real>
double evaluate_in(scalar::Op op, const std::vector<double>& values) {
  const std::vector<Real> own(values.begin(), values.end());
  return static_cast<double>(scalar::evaluate(op, std::span<const Real>(own)));
}

}  // namespace

ExpressionSimplifier::ExpressionSimplifier(const Kernel& from, Kernel& to)
    : from_(from),
      to_(to),
      name_of_(from.expressions.size(), -1),
      done_(from.expressions.size(), -1),
      replaced_(to.registers.size(), -1) {
  for (const auto& [id, name] : from.named_uses) name_of_[static_cast<std::size_t>(id)] = name;
}

void ExpressionSimplifier::replace(RegId reg, ExprId value) {
  replaced_[static_cast<std::size_t>(reg)] = value;
}

bool ExpressionSimplifier::is_constant(ExprId id) const {
  const auto& node = to_.expr(id).node;
  return std::holds_alternative<IntConst>(node) || std::holds_alternative<FloatConst>(node);
}

std::optional<double> ExpressionSimplifier::real(ExprId id) const {
  const Expr& expr = to_.expr(id);
  const auto* constant = std::get_if<FloatConst>(&expr.node);
  return constant != nullptr ? std::optional(held(expr.type, constant->value)) : std::nullopt;
}

ExprId ExpressionSimplifier::add(Expr expr) {
  bool named = false;
  for_each_operand(expr, [&](ExprId id) { named = named || is_named(id); });
  to_.expressions.push_back(std::move(expr));
  const auto id = static_cast<ExprId>(to_.expressions.size()) - 1;
  named_.push_back(named);
  known_.push_back(
      is_real(to_.expr(id).type)
          ? std::nullopt
          : constant_value(to_, id, [](RegId) -> std::optional<std::int64_t> { return std::nullopt; }));
  return id;
}

ExprId ExpressionSimplifier::simplify(ExprId id) {
  ExprId& done = done_[static_cast<std::size_t>(id)];
  if (done < 0) done = rebuild(id);
  return done;
}

ExprId ExpressionSimplifier::rebuild(ExprId id) {
  Expr expr = from_.expr(id);
  if (const auto* read = std::get_if<RegRead>(&expr.node);
      read != nullptr && replaced_[static_cast<std::size_t>(read->reg)] >= 0)
    return replaced_[static_cast<std::size_t>(read->reg)];
  if (const auto* choice = std::get_if<SelectExpr>(&expr.node))
    if (const auto condition = known(simplify(choice->condition)))
      return simplify(*condition != 0 ? choice->a : choice->b);
  for_each_operand(expr, [&](ExprId& operand) { operand = simplify(operand); });
  if (const auto* n = std::get_if<IntExpr>(&expr.node)) return fold_integer(expr.type, *n);
  if (const auto* n = std::get_if<LogicExpr>(&expr.node)) return fold_logic(*n);
  if (const auto* n = std::get_if<MathExpr>(&expr.node)) return fold_math(expr.type, *n);
  if (const auto* n = std::get_if<CastExpr>(&expr.node)) return fold_cast(expr.type, *n);
  const ExprId result = add(std::move(expr));
  if (const int name = name_of_[static_cast<std::size_t>(id)]; name >= 0) {
    to_.named_uses.emplace_back(result, name);
    named_[static_cast<std::size_t>(result)] = true;
  }
  return result;
}

ExprId ExpressionSimplifier::fold_integer(Type type, const IntExpr& n) {
  const auto a = known(n.a), b = known(n.b);
  switch (identity(n.op, a, b)) {
    case Identity::A: return n.a;
    case Identity::B: return n.b;
    case Identity::Zero: return add({type, IntConst{0}});
    case Identity::None: break;
  }
  // Sums of named constants stay as written: the emitted text says `ROWS * 2`, and the compiler folds it.
  if (a && b && !is_named(n.a) && !is_named(n.b))
    if (const auto value = fold(n.op, type, *a, *b)) return add({type, IntConst{*value}});
  return add({type, n});
}

ExprId ExpressionSimplifier::fold_logic(const LogicExpr& n) {
  if (n.op == Logic::Not) return negate(n.a);
  const std::int64_t decisive = n.op == Logic::Or ? 1 : 0;
  for (const auto& [side, other] : {std::array{n.a, n.b}, std::array{n.b, n.a}})
    if (const auto value = known(side)) return *value == decisive ? side : other;
  return add({Type::Pred, n});
}

ExprId ExpressionSimplifier::negate(ExprId condition) {
  const Expr& expr = to_.expr(condition);
  if (const auto* inner = std::get_if<LogicExpr>(&expr.node); inner != nullptr && inner->op == Logic::Not)
    return inner->a;
  // Comparisons of integers have an exact opposite; those of floats have not (NaN).
  if (const auto* n = std::get_if<CompareExpr>(&expr.node); n != nullptr && !is_real(to_.expr(n->a).type)) {
    static constexpr std::array kOpposite{Compare::GreaterEqual, Compare::Greater,  Compare::LessEqual,
                                          Compare::Less,         Compare::NotEqual, Compare::Equal};
    return add({Type::Pred, CompareExpr{kOpposite[static_cast<std::size_t>(n->op)], n->a, n->b}});
  }
  return add({Type::Pred, LogicExpr{Logic::Not, condition, -1}});
}

ExprId ExpressionSimplifier::fold_math(Type type, const MathExpr& n) {
  // The builder simplifies before it verifies: what is malformed is passed on as it is.
  if (static_cast<int>(n.args.size()) != scalar::info(n.op).arity) return add({type, n});
  std::vector<double> values;
  for (const ExprId arg : n.args)
    if (const auto value = real(arg)) values.push_back(*value);
  if (values.size() == n.args.size()) {
    const double value =
        type == Type::F64 ? evaluate_in<double>(n.op, values) : evaluate_in<float>(n.op, values);
    // Infinities and NaN have no literal in the emitted text.
    if (std::isfinite(value)) return add({type, FloatConst{value}});
  }
  if (n.op == scalar::Op::Select)
    if (const auto condition = real(n.args[0])) return *condition != 0 ? n.args[1] : n.args[2];
  if (n.args.size() == 2) {
    const Identity found = identity(n.op, real(n.args[0]), real(n.args[1]));
    if (found == Identity::A) return n.args[0];
    if (found == Identity::B) return n.args[1];
  }
  return add({type, n});
}

ExprId ExpressionSimplifier::fold_cast(Type type, const CastExpr& n) {
  const auto value = known(n.a);
  if (!value || is_named(n.a)) return add({type, n});
  if (is_real(type)) return add({type, FloatConst{held(type, static_cast<double>(*value))}});
  return add({type, IntConst{wrap(type, *value)}});
}

}  // namespace rondo::kernel
