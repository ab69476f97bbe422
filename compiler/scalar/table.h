// The table behind ops.h: one row an op, in the order of Op, with its name, costs and evaluation. Included
// where the evaluation must be inlined into a loop over channels (the reference executor); everyone else uses
// ops.h.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

#include "compiler/scalar/ops.h"

namespace rondo::scalar {

// One op: what ops.h publishes, and its value as a generic callable over float or double.
template <class Evaluate>
struct Row {
  OpInfo info;
  Evaluate evaluate;
};

namespace detail {

inline constexpr bool kCommutative = true;

template <class Evaluate>
constexpr Row<Evaluate> row(Op op, std::string_view name, int arity, Cost fast, Cost accurate,
                            Evaluate evaluate, bool commutative = false) {
  return {{op, name, arity, fast, accurate, commutative}, evaluate};
}

// Ops that are one fp32 instruction either way.
template <class Evaluate>
constexpr Row<Evaluate> plain(Op op, std::string_view name, int arity, Evaluate evaluate,
                              bool commutative = false) {
  return row(op, name, arity, {1, 0, 4}, {1, 0, 4}, evaluate, commutative);
}

template <class Real>
constexpr Real truth(bool condition) {
  return condition ? Real{1} : Real{0};
}

// Like fmin and fmax (IEEE 754 minNum, and min.f32 / max.f32 of the GPU) a NaN loses against a number;
// written out because the library's functions do not vectorise. Only a NaN differs from itself.
template <class Real>
constexpr Real smaller(Real a, Real b) {
  return (a <= b || b != b) ? a : b;  // NOLINT(misc-redundant-expression)
}
template <class Real>
constexpr Real larger(Real a, Real b) {
  return (a >= b || b != b) ? a : b;  // NOLINT(misc-redundant-expression)
}

// The exponential never sees a positive argument, so neither branch overflows.
template <class Real>
Real sigmoid(Real x) {
  const Real e = std::exp(-std::abs(x));
  return (x >= 0 ? Real{1} : e) / (Real{1} + e);
}

// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
template <class Real>
Real softplus(Real x) {
  return larger(x, Real{0}) + std::log1p(std::exp(-std::abs(x)));
}

// x/2 * (1 + erf(x / sqrt 2)) = x/2 * erfc(-x / sqrt 2); the latter does not cancel for negative x.
template <class Real>
Real gelu(Real x) {
  constexpr Real kSqrtHalf = static_cast<Real>(0.70710678118654752440);
  return static_cast<Real>(0.5) * x * std::erfc(-x * kSqrtHalf);
}

}  // namespace detail

// Costs: {fp32 instructions, special-function instructions, latency in cycles}. `fast` counts what the
// approximate PTX instructions expand to (tanh.approx, ex2.approx, lg2.approx, rcp.approx, rsqrt.approx,
// sin.approx; PTX ISA 8.x, section 9.7.3), about 18 cycles of latency each and 4 for an fp32 instruction;
// `accurate` counts the instructions of the CUDA math library's fp32 functions within a few, divergent slow
// paths left out.
inline constexpr auto kTable = [] {
  using detail::kCommutative, detail::plain, detail::row, detail::truth;
  // clang-format off
  return std::make_tuple(
      plain(Op::Add, "add", 2, [](auto a, auto b) { return a + b; }, kCommutative),
      plain(Op::Sub, "sub", 2, [](auto a, auto b) { return a - b; }),
      plain(Op::Mul, "mul", 2, [](auto a, auto b) { return a * b; }, kCommutative),
      row(Op::Div, "div", 2, {1, 1, 22}, {8, 1, 40}, [](auto a, auto b) { return a / b; }),
      plain(Op::Neg, "neg", 1, [](auto a) { return -a; }),
      plain(Op::Fma, "fma", 3, [](auto a, auto b, auto c) { return std::fma(a, b, c); }),
      plain(Op::Min, "min", 2, [](auto a, auto b) { return detail::smaller(a, b); }, kCommutative),
      plain(Op::Max, "max", 2, [](auto a, auto b) { return detail::larger(a, b); }, kCommutative),
      plain(Op::Abs, "abs", 1, [](auto a) { return std::abs(a); }),
      row(Op::Sign, "sign", 1, {3, 0, 12}, {3, 0, 12}, [](auto a) { return truth<decltype(a)>(a > 0) - truth<decltype(a)>(a < 0); }),
      row(Op::Exp, "exp", 1, {1, 1, 22}, {6, 1, 40}, [](auto a) { return std::exp(a); }),
      row(Op::Expm1, "expm1", 1, {2, 1, 26}, {14, 1, 70}, [](auto a) { return std::expm1(a); }),
      row(Op::Log, "log", 1, {1, 1, 22}, {16, 0, 70}, [](auto a) { return std::log(a); }),
      row(Op::Log1p, "log1p", 1, {2, 1, 26}, {18, 0, 80}, [](auto a) { return std::log1p(a); }),
      row(Op::Sqrt, "sqrt", 1, {1, 1, 22}, {7, 1, 40}, [](auto a) { return std::sqrt(a); }),
      row(Op::Rsqrt, "rsqrt", 1, {0, 1, 18}, {3, 1, 30}, [](auto a) { return decltype(a){1} / std::sqrt(a); }),
      plain(Op::Square, "square", 1, [](auto a) { return a * a; }),
      row(Op::Recip, "recip", 1, {0, 1, 18}, {6, 1, 36}, [](auto a) { return decltype(a){1} / a; }),
      row(Op::Sigmoid, "sigmoid", 1, {2, 1, 26}, {13, 2, 80}, [](auto a) { return detail::sigmoid(a); }),
      row(Op::Tanh, "tanh", 1, {0, 1, 18}, {14, 2, 80}, [](auto a) { return std::tanh(a); }),
      row(Op::Relu, "relu", 1, {1, 0, 4}, {1, 0, 4}, [](auto a) { return detail::larger(decltype(a){0}, a); }),
      row(Op::Silu, "silu", 1, {2, 1, 26}, {14, 2, 84}, [](auto a) { return a * detail::sigmoid(a); }),
      row(Op::Gelu, "gelu", 1, {18, 1, 70}, {22, 1, 80}, [](auto a) { return detail::gelu(a); }),
      row(Op::Softplus, "softplus", 1, {5, 2, 60}, {26, 1, 120}, [](auto a) { return detail::softplus(a); }),
      row(Op::Erf, "erf", 1, {15, 1, 60}, {18, 1, 70}, [](auto a) { return std::erf(a); }),
      row(Op::Sin, "sin", 1, {1, 1, 22}, {18, 0, 70}, [](auto a) { return std::sin(a); }),
      row(Op::Cos, "cos", 1, {1, 1, 22}, {18, 0, 70}, [](auto a) { return std::cos(a); }),
      plain(Op::Less, "less", 2, [](auto a, auto b) { return truth<decltype(a)>(a < b); }),
      plain(Op::LessEqual, "less_equal", 2, [](auto a, auto b) { return truth<decltype(a)>(a <= b); }),
      plain(Op::Greater, "greater", 2, [](auto a, auto b) { return truth<decltype(a)>(a > b); }),
      plain(Op::GreaterEqual, "greater_equal", 2, [](auto a, auto b) { return truth<decltype(a)>(a >= b); }),
      plain(Op::Equal, "equal", 2, [](auto a, auto b) { return truth<decltype(a)>(a == b); }, kCommutative),
      plain(Op::NotEqual, "not_equal", 2, [](auto a, auto b) { return truth<decltype(a)>(a != b); }, kCommutative),
      row(Op::And, "and", 2, {3, 0, 12}, {3, 0, 12}, [](auto a, auto b) { return truth<decltype(a)>(a != 0 && b != 0); }, kCommutative),
      row(Op::Or, "or", 2, {3, 0, 12}, {3, 0, 12}, [](auto a, auto b) { return truth<decltype(a)>(a != 0 || b != 0); }, kCommutative),
      plain(Op::Not, "not", 1, [](auto a) { return truth<decltype(a)>(a == 0); }),
      row(Op::Select, "select", 3, {2, 0, 8}, {2, 0, 8}, [](auto c, auto a, auto b) { return c != 0 ? a : b; }),
      row(Op::Round, "round", 1, {0, 1, 18}, {0, 1, 18}, [](auto a) { return std::nearbyint(a); }),
      row(Op::Floor, "floor", 1, {0, 1, 18}, {0, 1, 18}, [](auto a) { return std::floor(a); }),
      row(Op::Exp2, "exp2", 1, {0, 1, 18}, {5, 1, 36}, [](auto a) { return std::exp2(a); }),
      row(Op::Pow, "pow", 2, {50, 2, 160}, {50, 2, 160}, [](auto a, auto b) { return std::pow(a, b); }),
      row(Op::Atan2, "atan2", 2, {30, 1, 110}, {30, 1, 110}, [](auto y, auto x) { return std::atan2(y, x); }),
      plain(Op::WithGradient, "with_gradient", 2, [](auto a, auto) { return a; }));
  // clang-format on
}();

static_assert(std::tuple_size_v<decltype(kTable)> == kOpCount);
static_assert(
    []<std::size_t... I>(std::index_sequence<I...>) {
      return ((std::get<I>(kTable).info.op == static_cast<Op>(I)) && ...);
    }(std::make_index_sequence<kOpCount>{}),
    "rows are in the order of Op");

// Calls visitor(row) with the row of `op`, whose type names its evaluation: the one place that turns an Op
// into code.
template <class Visitor>
void visit(Op op, Visitor&& visitor) {
  using Call = void (*)(Visitor&);
  static constexpr auto kCalls = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Call, kOpCount>{+[](Visitor& v) { v(std::get<I>(kTable)); }...};
  }
  (std::make_index_sequence<kOpCount>{});
  kCalls[static_cast<std::size_t>(op)](visitor);
}

}  // namespace rondo::scalar
