#include "compiler/backend/llvm/nvptx/math_table.h"

#include <array>

namespace rondo::backend::nvptx {

namespace {

using scalar::Op;

constexpr Form helper(std::string_view name) { return {Form::Kind::Helper, name}; }
constexpr Form intrinsic(std::string_view name) { return {Form::Kind::Intrinsic, name}; }
constexpr Form instruction(std::string_view text) { return {Form::Kind::Instruction, text}; }
constexpr Form compare(std::string_view predicate) { return {Form::Kind::Truth, predicate}; }
constexpr MathText same(Op op, Form form) { return {op, form, form}; }

// `contract` lets a product and a sum become one fma, as NVRTC does. Comparisons are those of C++: only
// "not equal" is true of a NaN.
constexpr std::array<MathText, scalar::kKernelOpCount> kTable = {{
    same(Op::Add, instruction("fadd contract")),
    same(Op::Sub, instruction("fsub contract")),
    same(Op::Mul, instruction("fmul contract")),
    {Op::Div, helper("fast_div"), instruction("fdiv")},
    same(Op::Neg, {Form::Kind::Negate, ""}),
    same(Op::Fma, intrinsic("llvm.fma.f32")),
    same(Op::Min, intrinsic("llvm.minnum.f32")),
    same(Op::Max, intrinsic("llvm.maxnum.f32")),
    same(Op::Abs, intrinsic("llvm.fabs.f32")),
    same(Op::Sign, helper("sign")),
    {Op::Exp, helper("fast_exp"), helper("precise_exp")},
    {Op::Expm1, helper("fast_expm1"), helper("precise_expm1")},
    {Op::Log, helper("fast_log"), helper("precise_log")},
    {Op::Log1p, helper("fast_log1p"), helper("precise_log1p")},
    {Op::Sqrt, intrinsic("llvm.nvvm.sqrt.approx.ftz.f"), intrinsic("llvm.sqrt.f32")},
    {Op::Rsqrt, intrinsic("llvm.nvvm.rsqrt.approx.ftz.f"), intrinsic("llvm.nvvm.rsqrt.approx.f")},
    same(Op::Square, {Form::Kind::Square, ""}),
    {Op::Recip, intrinsic("llvm.nvvm.rcp.approx.ftz.f"), {Form::Kind::Recip, ""}},
    {Op::Sigmoid, helper("fast_sigmoid"), helper("accurate_sigmoid")},
    {Op::Tanh, helper("tanh_approx"), helper("accurate_tanh")},
    same(Op::Relu, {Form::Kind::Relu, ""}),
    {Op::Silu, helper("fast_silu"), helper("accurate_silu")},
    {Op::Gelu, helper("fast_gelu"), helper("accurate_gelu")},
    {Op::Softplus, helper("fast_softplus"), helper("accurate_softplus")},
    same(Op::Erf, helper("precise_erf")),
    same(Op::Sin, helper("precise_sin")),
    same(Op::Cos, helper("precise_cos")),
    same(Op::Less, compare("olt")),
    same(Op::LessEqual, compare("ole")),
    same(Op::Greater, compare("ogt")),
    same(Op::GreaterEqual, compare("oge")),
    same(Op::Equal, compare("oeq")),
    same(Op::NotEqual, compare("une")),
    same(Op::And, {Form::Kind::And, ""}),
    same(Op::Or, {Form::Kind::Or, ""}),
    same(Op::Not, {Form::Kind::Not, ""}),
    same(Op::Select, {Form::Kind::Select, ""}),
    same(Op::Round, intrinsic("llvm.rint.f32")),
    same(Op::Floor, intrinsic("llvm.floor.f32")),
    {Op::Exp2, intrinsic("llvm.nvvm.ex2.approx.ftz.f"), helper("precise_exp2")},
    same(Op::Pow, helper("precise_pow")),
    same(Op::Atan2, helper("precise_atan2")),
}};

static_assert(scalar::has_each_op_in_order(kTable, scalar::kKernelOpCount), "rows are in the order of Op");

}  // namespace

const MathText& math_text(Op op) { return kTable[static_cast<std::size_t>(op)]; }

std::string_view instruction_of(kernel::IntOp op) {
  switch (op) {
    case kernel::IntOp::Add: return "add nsw";
    case kernel::IntOp::Sub: return "sub nsw";
    case kernel::IntOp::Mul: return "mul nsw";
    case kernel::IntOp::Div: return "udiv";
    case kernel::IntOp::Mod: return "urem";
    case kernel::IntOp::Shl: return "shl";
    case kernel::IntOp::Shr: return "ashr";
    case kernel::IntOp::And: return "and";
    case kernel::IntOp::Or: return "or";
    case kernel::IntOp::Xor: return "xor";
    case kernel::IntOp::Min: return "smin";
    case kernel::IntOp::Max: return "smax";
  }
  return "";
}

std::string_view predicate_of(kernel::Compare op, bool real) {
  switch (op) {
    case kernel::Compare::Less: return real ? "olt" : "slt";
    case kernel::Compare::LessEqual: return real ? "ole" : "sle";
    case kernel::Compare::Greater: return real ? "ogt" : "sgt";
    case kernel::Compare::GreaterEqual: return real ? "oge" : "sge";
    case kernel::Compare::Equal: return real ? "oeq" : "eq";
    case kernel::Compare::NotEqual: return real ? "une" : "ne";
  }
  return "";
}

}  // namespace rondo::backend::nvptx
