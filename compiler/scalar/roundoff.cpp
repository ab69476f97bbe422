#include "compiler/scalar/roundoff.h"

namespace rondo::scalar {
namespace {

constexpr double kUlp = 0x1p-23;
// A value may be rounded once where the step makes it and once where its coefficients were composed over
// several steps (docs/strategies/stream.md).
constexpr double kTwice = 2 * 0x1p-24;

Roundoff of_value(double ulps) { return {.value = ulps * kUlp}; }

// Ops whose approximate form differs from the accurate one.
Roundoff fast_roundoff(Op op) {
  switch (op) {
    case Op::Exp: return {.value = 2 * kUlp, .scaled = kUlp};
    case Op::Exp2: return of_value(2);
    case Op::Expm1: return {.value = 24 * kUlp, .scaled = kUlp};  // by exp where numbers are large
    case Op::Log: return {.value = 4 * kUlp, .absolute = 2 * kUlp};
    case Op::Log1p:
    case Op::Softplus: return of_value(108);
    case Op::Div: return of_value(2.5);
    case Op::Sqrt:
    case Op::Rsqrt:
    case Op::Recip: return of_value(2);
    case Op::Sigmoid: return {.absolute = 0x1p-17};
    case Op::Tanh: return {.absolute = 0x1p-16};
    case Op::Silu: return {.operand = 0x1p-17};
    case Op::Gelu: return {.operand = 4 * kUlp};
    default: return {};
  }
}

Roundoff accurate_roundoff(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Sub:
    case Op::Fma: return {.operand = kTwice};
    case Op::Mul:
    case Op::Square: return {.value = kTwice};
    case Op::Div:
    case Op::Sqrt:
    case Op::Recip: return of_value(1);
    case Op::Rsqrt:
    case Op::Exp:
    case Op::Exp2:
    case Op::Expm1:
    case Op::Log:
    case Op::Log1p:
    case Op::Erf:
    case Op::Sin:
    case Op::Cos: return of_value(2);
    case Op::Tanh:
    case Op::Sigmoid:
    case Op::Softplus:
    case Op::Atan2: return of_value(3);
    case Op::Silu:
    case Op::Pow: return of_value(4);
    case Op::Gelu: return {.value = 5 * kUlp, .scaled = 5 * kUlp};
    // One of the operands, its sign changed, a whole number beside it, or a truth value.
    case Op::Neg:
    case Op::Min:
    case Op::Max:
    case Op::Abs:
    case Op::Sign:
    case Op::Relu:
    case Op::Less:
    case Op::LessEqual:
    case Op::Greater:
    case Op::GreaterEqual:
    case Op::Equal:
    case Op::NotEqual:
    case Op::And:
    case Op::Or:
    case Op::Not:
    case Op::Select:
    case Op::Round:
    case Op::Floor:
    case Op::WithGradient: return {};
  }
  return {};
}

}  // namespace

Roundoff roundoff(Op op, bool fast) {
  if (fast)
    if (const Roundoff approximate = fast_roundoff(op); !approximate.exact()) return approximate;
  return accurate_roundoff(op);
}

}  // namespace rondo::scalar
