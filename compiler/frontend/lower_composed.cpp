// The part of ExpressionLowering for functions that are made of several operations.
#include <fmt/format.h>

#include <numbers>

#include "compiler/frontend/lower_expression.h"

namespace rondo::frontend {
namespace {

using scalar::Op;

constexpr double kBitsOfUnit = 1 / std::numbers::ln2;  // log 2 of e

}  // namespace

Value ExpressionLowering::composed(const Builtin& builtin, const std::vector<Value>& arguments,
                                   step::Span span) {
  const std::string name = builtin.name, what = fmt::format("'{}'", name);
  const auto of = [&](Op op, const std::vector<Value>& operands) {
    return elementwise(op, operands, what, span);
  };
  const auto number = [&](double value) {
    return Value(Rows{{}, step::Extent::Scalar, {placed(cell_.graph.constant(value), span)}});
  };
  const Value& first = arguments[0];
  if (name == "clamp") return of(Op::Min, {of(Op::Max, {first, arguments[1]}), arguments[2]});
  if (name == "ceil") return of(Op::Neg, {of(Op::Floor, {of(Op::Neg, {first})})});
  if (name == "log2") return of(Op::Mul, {of(Op::Log, {first}), number(kBitsOfUnit)});
  if (name == "atan") return of(Op::Atan2, {first, number(1)});
  if (name == "stop_gradient") return of(Op::WithGradient, {first, number(0)});
  // mod: a rounded quotient may lie on the other side of a whole number, and then the rest is off by b.
  const Value& b = arguments[1];
  const Value whole = of(Op::Floor, {of(Op::Div, {first, b})});
  const Value rest = of(Op::Fma, {of(Op::Neg, {b}), whole, first});
  const Value below = of(Op::Less, {of(Op::Mul, {rest, b}), number(0)});
  const Value beyond = of(Op::GreaterEqual, {of(Op::Abs, {rest}), of(Op::Abs, {b})});
  const Value less = of(Op::Select, {beyond, of(Op::Sub, {rest, b}), rest});
  return of(Op::Select, {below, of(Op::Add, {rest, b}), less});
}

}  // namespace rondo::frontend
