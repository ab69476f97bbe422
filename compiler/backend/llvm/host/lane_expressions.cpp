// The part of LaneValues for expressions.
#include <stdexcept>

#include "compiler/backend/llvm/host/lanes.h"
#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/integer.h"

namespace rondo::backend::host {

using namespace kernel;
using nvptx::Form;
using nvptx::instruction_of;
using nvptx::type_text;

namespace {

// Ops whose form for fast math is shorter here. The others stay accurate: what makes them short on a GPU are
// instructions that CPUs have not.
bool is_shorter_fast(scalar::Op op) {
  using scalar::Op;
  return op == Op::Exp || op == Op::Sigmoid || op == Op::Tanh || op == Op::Silu;
}

}  // namespace

// One node to one instruction, or a few. `spread`: of the node.
struct LaneValues::Visit {
  LaneValues& w;
  Type type;
  Spread spread;

  bool scalar() const { return !spread.is_varying(); }
  std::string type_of_result() const { return scalar() ? std::string(type_text(type)) : w.vector_type(type); }
  // An operand in the form in which this node works on it.
  std::string operand(ExprId id) const { return scalar() ? w.write(id).text : w.vector(id); }
  std::string type_of(ExprId id) const {
    const Type of = w.kernel_.expr(id).type;
    return scalar() ? std::string(type_text(of)) : w.vector_type(of);
  }

  std::string operator()(const IntConst& e) const {
    if (type == Type::Pred) return e.value != 0 ? "true" : "false";
    return fmt::format("{}", e.value);
  }
  std::string operator()(const FloatConst& e) const { return nvptx::real_text(e.value, type); }
  std::string operator()(const RegRead& e) const {
    if (!w.variables_[index_of(e.reg)]) return w.registers_[index_of(e.reg)];
    return w.text_.value("load {}, ptr {}", type_of_result(), w.registers_[index_of(e.reg)]);
  }
  std::string operator()(const ArrayRead& e) const {
    return w.text_.value("load {}, ptr {}", w.vector_type(type), w.slot(e.array, e.index));
  }
  std::string operator()(const ParamRead& e) const { return w.params_[static_cast<std::size_t>(e.param)]; }
  std::string operator()(const BuiltinRead& e) const {
    switch (e.builtin) {
      case Builtin::ThreadX: return "0";  // of lane 0
      case Builtin::BlockX: return "%block";
      case Builtin::GridX: return "%grid";
      case Builtin::ClusterRank: break;
    }
    throw std::logic_error("CPUs have no clusters");
  }
  std::string operator()(const IntExpr& e) const {
    std::string a = operand(e.a), b = operand(e.b);
    // Of a sum the scalars of lane 0 are added; so is a stride times a constant.
    const std::string of = type_of_result();
    if (e.op == IntOp::Min || e.op == IntOp::Max) {
      const std::string name =
          scalar() ? std::string(type_text(type)) : fmt::format("v{}{}", w.lanes(), type_text(type));
      return w.text_.value("call {0} @llvm.{1}.{2}({0} {3}, {0} {4})", of, instruction_of(e.op), name, a, b);
    }
    // A quotient that is not used (of a select) must be no undefined one.
    if ((e.op == IntOp::Div || e.op == IntOp::Mod) && !w.known(e.b)) {
      const std::string name =
          scalar() ? std::string(type_text(type)) : fmt::format("v{}{}", w.lanes(), type_text(type));
      const std::string one = scalar() ? "1" : fmt::format("splat ({} 1)", type_text(type));
      b = w.text_.value("call {0} @llvm.umax.{1}({0} {2}, {0} {3})", of, name, b, one);
    }
    return w.text_.value("{} {} {}, {}", instruction_of(e.op), of, a, b);
  }
  std::string operator()(const CompareExpr& e) const {
    const Type compared = w.kernel_.expr(e.a).type;
    const bool real = is_real(compared);
    const std::string a = scalar() ? operand(e.a) : unfolded(e.a, compared), b = operand(e.b);
    return w.text_.value("{} {} {} {}, {}", real ? "fcmp" : "icmp", nvptx::predicate_of(e.op, real),
                         type_of(e.a), a, b);
  }
  // All lanes of an operand, so that a mask is never a constant of the text: LLVM 22 stores 32 bits where
  // such a mask has one lane of 16 bits (x86-64-v4).
  std::string unfolded(ExprId id, Type of) const {
    Operand lanes = w.write(id);
    if (of != Type::I32 || lanes.spread.is_varying() || lanes.spread.is_uniform()) return w.vector(lanes, of);
    const std::string zero = w.text_.once("zero", "zero", "call i32 asm \"\", \"=r,0\"(i32 0)");
    lanes.text = w.text_.value("add i32 {}, {}", lanes.text, zero);
    return w.vector(lanes, of);
  }
  std::string operator()(const LogicExpr& e) const {
    const std::string a = operand(e.a), of = type_of_result();
    const std::string yes = scalar() ? "true" : "splat (i1 true)",
                      no = scalar() ? "false" : "splat (i1 false)";
    if (e.op == Logic::Not) return w.text_.value("xor {} {}, {}", of, a, yes);
    const std::string b = operand(e.b);
    return e.op == Logic::And ? w.text_.value("select {0} {1}, {0} {2}, {0} {3}", of, a, b, no)
                              : w.text_.value("select {0} {1}, {0} {2}, {0} {3}", of, a, yes, b);
  }
  std::string operator()(const MathExpr& e) const {
    const bool fast = w.kernel_.math == Math::Fast && type == Type::F32 && is_shorter_fast(e.op);
    return w.apply(fast ? nvptx::math_text(e.op).fast : nvptx::math_text(e.op).accurate, e, type);
  }
  std::string operator()(const CastExpr& e) const {
    const Type from = w.kernel_.expr(e.a).type;
    const std::string a = operand(e.a), to = type_of_result();
    if (from == type) return a;
    if (from == Type::Pred) {
      const std::string of = type_of(e.a);
      return is_real(type) ? w.text_.value("uitofp {} {} to {}", of, a, to)
                           : w.text_.value("zext {} {} to {}", of, a, to);
    }
    if (is_real(type)) return w.text_.value("sitofp {} {} to {}", type_of(e.a), a, to);
    if (a.find('%') == std::string::npos && scalar()) return a;
    return w.text_.value("{} {} {} to {}", type == Type::I64 ? "sext" : "trunc", type_of(e.a), a, to);
  }
  std::string operator()(const SelectExpr& e) const {
    const std::string a = operand(e.a), b = operand(e.b), of = type_of_result();
    const Operand condition = w.write(e.condition);
    const bool one = condition.spread.is_uniform();
    return w.text_.value("select {0} {1}, {2} {3}, {2} {4}",
                         one ? std::string("i1") : w.vector_type(Type::Pred), condition.text, of, a, b);
  }
  std::string operator()(const UniformExpr& e) const {
    const std::string words = w.vector_type(Type::I32);
    std::string list = fmt::format("{} {}, {} splat (i32 {})", w.vector_type(type), w.vector(e.seed), words,
                                   static_cast<std::int32_t>(e.stream));
    for (const ExprId place : {e.row, e.step, e.head, e.channel})
      list += fmt::format(", {} {}", words, w.vector(place));
    return w.text_.value("call {} @{}({})", w.vector_type(type),
                         w.helpers_.require("philox_uniform", w.lanes(), type), list);
  }
  std::string operator()(const auto&) const {
    throw std::logic_error("kernels of CPUs have no packed pairs and no tf32 numbers");
  }
};

std::optional<std::int64_t> LaneValues::known(ExprId id) const {
  return constant_value(kernel_, id, [this](RegId reg) { return known_[index_of(reg)]; });
}

Operand LaneValues::write(ExprId id) {
  const Expr& expr = kernel_.expr(id);
  if (!is_real(expr.type))
    if (const std::optional<std::int64_t> value = known(id))
      return {Visit{*this, expr.type, Spread::uniform()}(IntConst{*value}), Spread::uniform()};
  if (const auto before = written_.find(id); before != written_.end()) return before->second;
  Operand operand;
  operand.spread = spreads_.of(id);
  operand.text = std::visit(Visit{*this, expr.type, operand.spread}, expr.node);
  return written_[id] = operand;
}

std::string LaneValues::number(const std::string& condition, Type type) {
  return text_.value("uitofp {} {} to {}", vector_type(Type::Pred), condition, vector_type(type));
}

std::string LaneValues::truth(ExprId id) {
  return text_.value("fcmp une {} {}, zeroinitializer", vector_type(kernel_.expr(id).type), vector(id));
}

std::string LaneValues::apply(const Form& form, const MathExpr& math, Type type) {
  const auto& args = math.args;
  const std::string real = vector_type(type), bits = vector_type(Type::Pred);
  std::vector<std::string> of;
  std::string list;
  const bool logic =
      form.kind == Form::Kind::And || form.kind == Form::Kind::Or || form.kind == Form::Kind::Not;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const bool chooses = logic || (form.kind == Form::Kind::Select && i == 0);
    of.push_back(chooses ? truth(args[i]) : vector(args[i]));
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", real, of.back());
  }
  const auto called = [&](std::string_view name) {
    return text_.value("call {} @{}({})", real, helpers_.require(name, lanes(), type), list);
  };
  switch (form.kind) {
    case Form::Kind::Helper:
    case Form::Kind::Intrinsic: return called(form.text);
    case Form::Kind::Instruction: return text_.value("{} {} {}, {}", form.text, real, of[0], of[1]);
    case Form::Kind::Negate: return text_.value("fneg {} {}", real, of[0]);
    case Form::Kind::Square: return text_.value("fmul contract {0} {1}, {1}", real, of[0]);
    case Form::Kind::Relu: {
      list += fmt::format(", {} zeroinitializer", real);
      return called("llvm.maxnum.f32");
    }
    case Form::Kind::Recip: return text_.value("fdiv {} splat ({} 1.0), {}", real, type_text(type), of[0]);
    case Form::Kind::Truth:
      return number(text_.value("fcmp {} {} {}, {}", form.text, real, of[0], of[1]), type);
    case Form::Kind::And: return number(text_.value("and {} {}, {}", bits, of[0], of[1]), type);
    case Form::Kind::Or: return number(text_.value("or {} {}, {}", bits, of[0], of[1]), type);
    case Form::Kind::Not: return number(text_.value("xor {} {}, splat (i1 true)", bits, of[0]), type);
    case Form::Kind::Select:
      return text_.value("select {0} {1}, {2} {3}, {2} {4}", bits, of[0], real, of[1], of[2]);
  }
  return "poison";
}

}  // namespace rondo::backend::host
