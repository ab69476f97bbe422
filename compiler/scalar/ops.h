// The scalar operations every level of Rondo shares: one table, keyed by op, gives name, arity, evaluation
// and cost. StepIR adds the derivative rules (compiler/step/derivative_table.h), the backends their text.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace rondo::scalar {

// Comparisons and logic yield 1 or 0 as a number; select(c, a, b) takes a where c != 0.
enum class Op {
  Add,
  Sub,
  Mul,
  Div,
  Neg,
  Fma,  // Fma(a, b, c) = a * b + c
  Min,
  Max,
  Abs,
  Sign,  // Sign(0) = 0
  Exp,
  Expm1,
  Log,
  Log1p,
  Sqrt,
  Rsqrt,
  Square,
  Recip,
  Sigmoid,
  Tanh,
  Relu,
  Silu,
  Gelu,
  Softplus,
  Erf,
  Sin,
  Cos,  // Gelu(x) = x/2 * (1 + erf(x / sqrt 2)), Hendrycks & Gimpel 2016
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  And,
  Or,
  Not,
  Select,
  Round,  // to the nearest whole number, of two the even one
  Floor,
  Exp2,
  Pow,    // that of C: of a negative base a number only where the exponent is whole
  Atan2,  // Atan2(y, x), the angle of the point (x, y)
  // Its value is the first operand, its derivative that of the second. Of steps alone: kernels compute either
  // (step/declared.h).
  WithGradient,
};
// Canonical texts order by the numbers of ops, so a new one comes after all others of kernels.
inline constexpr int kOpCount = static_cast<int>(Op::WithGradient) + 1;
inline constexpr int kKernelOpCount = kOpCount - 1;

// Whether a table, of rows with a field `op`, has a row for each of the first `count` ops, in their order.
template <class Table>
constexpr bool has_each_op_in_order(const Table& table, int count = kOpCount) {
  if (table.size() != static_cast<std::size_t>(count)) return false;
  for (std::size_t i = 0; i < table.size(); ++i)
    if (table[i].op != static_cast<Op>(i)) return false;
  return true;
}

// What an op costs a warp, in issue slots of the unit it runs on (the cost model multiplies by the device
// profile).
struct Cost {
  int alu = 1;  // fp32 pipe instructions
  int special =
      0;  // special-function-unit instructions with `fast` math (tanh.approx, ex2.approx, rcp.approx, ...)
  int latency = 4;  // cycles of the dependent chain on a recent GPU, `fast` math
};

struct OpInfo {
  Op op;
  std::string_view name;  // as written in a cell file and in printed IR
  int arity;
  Cost fast;      // hardware approximations, default for 16-bit storage
  Cost accurate;  // full fp32 accuracy, default for fp32 storage
  bool commutative;
};

// The row of `op`. Total: every Op has one.
const OpInfo& info(Op op);
// The op of a name as written in cell files, or nullptr.
const OpInfo* find(std::string_view name);

// Value of the op; args.size() == info(op).arity. Stable forms are used (softplus, sigmoid and log1p do not
// overflow).
double evaluate(Op op, std::span<const double> args);
float evaluate(Op op, std::span<const float> args);

}  // namespace rondo::scalar
