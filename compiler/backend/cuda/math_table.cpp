#include "compiler/backend/cuda/math_table.h"

#include <array>

namespace rondo::backend::cuda {

namespace {

using scalar::Op;

constexpr Form call(std::string_view function) { return {Form::Kind::Call, function, Precedence::Primary}; }
constexpr Form infix(std::string_view sign, Precedence precedence) {
  return {Form::Kind::Infix, sign, precedence};
}
constexpr Form compare(std::string_view sign, Precedence precedence) {
  return {Form::Kind::Truth, sign, precedence};
}
constexpr Form logic(std::string_view sign, Precedence precedence) {
  return {Form::Kind::Logic, sign, precedence};
}

constexpr MathText same(Op op, Form form) { return {op, form, form}; }

// expf, exp2f, expm1f, logf, log1pf, erff are within 1 or 2 ulp, sinf and cosf too, atan2f within 3 and powf
// within 4 (CUDA C++ Programming Guide, section "Mathematical Functions"); division and square root round
// correctly. sinf and cosf serve both columns: sin.approx is useless beyond a period.
constexpr std::array<MathText, scalar::kKernelOpCount> kTable = {{
    same(Op::Add, infix("+", Precedence::Additive)),
    same(Op::Sub, infix("-", Precedence::Additive)),
    same(Op::Mul, infix("*", Precedence::Multiplicative)),
    {Op::Div, call("fast_div"), infix("/", Precedence::Multiplicative)},
    same(Op::Neg, {Form::Kind::Prefix, "-", Precedence::Unary}),
    same(Op::Fma, call("fmaf")),
    same(Op::Min, call("fminf")),
    same(Op::Max, call("fmaxf")),
    same(Op::Abs, call("fabsf")),
    same(Op::Sign, call("sign")),
    {Op::Exp, call("fast_exp"), call("expf")},
    {Op::Expm1, call("fast_expm1"), call("expm1f")},
    {Op::Log, call("fast_log"), call("logf")},
    {Op::Log1p, call("fast_log1p"), call("log1pf")},
    {Op::Sqrt, call("sqrt_approx"), call("sqrtf")},
    {Op::Rsqrt, call("rsqrt_approx"), call("rsqrtf")},
    same(Op::Square, call("square")),
    {Op::Recip, call("rcp_approx"), {Form::Kind::Recip, "/", Precedence::Multiplicative}},
    {Op::Sigmoid, call("fast_sigmoid"), call("accurate_sigmoid")},
    {Op::Tanh, call("tanh_approx"), call("accurate_tanh")},
    same(Op::Relu, {Form::Kind::Relu, "fmaxf", Precedence::Primary}),
    {Op::Silu, call("fast_silu"), call("accurate_silu")},
    {Op::Gelu, call("fast_gelu"), call("accurate_gelu")},
    {Op::Softplus, call("fast_softplus"), call("accurate_softplus")},
    same(Op::Erf, call("erff")),
    same(Op::Sin, call("sinf")),
    same(Op::Cos, call("cosf")),
    same(Op::Less, compare("<", Precedence::Relational)),
    same(Op::LessEqual, compare("<=", Precedence::Relational)),
    same(Op::Greater, compare(">", Precedence::Relational)),
    same(Op::GreaterEqual, compare(">=", Precedence::Relational)),
    same(Op::Equal, compare("==", Precedence::Equality)),
    same(Op::NotEqual, compare("!=", Precedence::Equality)),
    same(Op::And, logic("&&", Precedence::LogicalAnd)),
    same(Op::Or, logic("||", Precedence::LogicalOr)),
    same(Op::Not, {Form::Kind::Not, "!", Precedence::Unary}),
    same(Op::Select, {Form::Kind::Select, "?", Precedence::Conditional}),
    same(Op::Round, call("rintf")),
    same(Op::Floor, call("floorf")),
    {Op::Exp2, call("ex2_approx"), call("exp2f")},
    same(Op::Pow, call("powf")),
    same(Op::Atan2, call("atan2f")),
}};

static_assert(scalar::has_each_op_in_order(kTable, scalar::kKernelOpCount), "rows are in the order of Op");

}  // namespace

const MathText& math_text(Op op) { return kTable[static_cast<std::size_t>(op)]; }

}  // namespace rondo::backend::cuda
