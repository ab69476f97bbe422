// The part of ValueWriter for expressions.
#include "compiler/backend/llvm/nvptx/values.h"
#include "compiler/kernel/ir/visit.h"

namespace rondo::backend::nvptx {

using namespace kernel;

namespace {

bool is_constant(const std::string& operand) { return operand.find('%') == std::string::npos; }

}  // namespace

// One node to one instruction, or a few.
struct ValueWriter::Visit {
  ValueWriter& w;
  Type type;

  std::string operator()(const IntConst& e) const {
    if (type == Type::Pred) return e.value != 0 ? "true" : "false";
    return fmt::format("{}", e.value);
  }
  std::string operator()(const FloatConst& e) const { return real_text(e.value); }
  std::string operator()(const RegRead& e) const {
    const auto reg = static_cast<std::size_t>(e.reg);
    if (!w.variables_[reg]) return w.registers_[reg];
    return w.text_.value("load {}, ptr {}", type_text(type), w.registers_[reg]);
  }
  std::string operator()(const ArrayRead& e) const { return w.read(e.array, w.index(e.index)); }
  std::string operator()(const ParamRead& e) const { return w.param(e.param); }
  std::string operator()(const BuiltinRead& e) const { return w.builtin(e.builtin); }
  std::string operator()(const IntExpr& e) const {
    const std::string a = w.write(e.a);
    std::string b = w.write(e.b);
    const std::string_view text = type_text(type), instruction = instruction_of(e.op);
    if (e.op == IntOp::Min || e.op == IntOp::Max)
      return w.text_.value("call {0} @llvm.{1}.{0}({0} {2}, {0} {3})", text, instruction, a, b);
    // A quotient that is not used (of a select) must be no undefined one.
    if ((e.op == IntOp::Div || e.op == IntOp::Mod) && !is_constant(b))
      b = w.text_.value("call {0} @llvm.umax.{0}({0} {1}, {0} 1)", text, b);
    return w.text_.value("{} {} {}, {}", instruction, text, a, b);
  }
  std::string operator()(const CompareExpr& e) const {
    const Type compared = w.type_of(e.a);
    const bool real = compared == Type::F32;
    const std::string a = w.write(e.a), b = w.write(e.b);
    return w.text_.value("{} {} {} {}, {}", real ? "fcmp" : "icmp", predicate_of(e.op, real),
                         type_text(compared), a, b);
  }
  std::string operator()(const LogicExpr& e) const {
    const std::string a = w.write(e.a);
    if (e.op == Logic::Not) return w.text_.value("xor i1 {}, true", a);
    const std::string b = w.write(e.b);
    return e.op == Logic::And ? w.lazily(a, b, "false") : w.lazily(a, "true", b);
  }
  std::string operator()(const MathExpr& e) const {
    const MathText& row = math_text(e.op);
    return w.apply(w.kernel_.math == Math::Fast ? row.fast : row.accurate, e);
  }
  std::string operator()(const CastExpr& e) const {
    const Type from = w.type_of(e.a);
    if (type != Type::F32) return w.extended(e.a, type);
    const std::string a = w.write(e.a);
    if (from == Type::Pred) return w.number(a);
    return w.text_.value("sitofp {} {} to float", type_text(from), a);
  }
  std::string operator()(const SelectExpr& e) const {
    const std::string condition = w.write(e.condition), a = w.write(e.a), b = w.write(e.b);
    return w.text_.value("select i1 {0}, {1} {2}, {1} {3}", condition, type_text(type), a, b);
  }
  std::string operator()(const PackExpr& e) const {
    const std::string low = w.typed(e.low), high = w.typed(e.high);
    return w.call("i32", fmt::format("pack_{}", storage_name(e.storage)), low + ", " + high);
  }
  std::string operator()(const UnpackExpr& e) const {
    const std::string pair = w.typed(e.pair);
    return w.call("float", fmt::format("{}_{}", e.high ? "high" : "low", storage_name(e.storage)), pair);
  }
  std::string operator()(const RoundExpr& e) const {
    const std::string a = w.typed(e.a);
    return w.call("float", "round_tf32", a);
  }
  std::string operator()(const UniformExpr& e) const {
    std::string arguments = w.typed(e.seed) + fmt::format(", i32 {}", static_cast<std::int32_t>(e.stream));
    for (const ExprId place : {e.row, e.step, e.head, e.channel}) arguments += ", " + w.typed(place);
    return w.call("float", "philox_uniform", arguments);
  }
};

std::string ValueWriter::write(ExprId id) {
  const Expr& expr = kernel_.expr(id);
  if (expr.type != Type::F32) {
    if (const std::optional<std::int64_t> value = known(id)) return Visit{*this, expr.type}(IntConst{*value});
  }
  const auto before = written_.find(id);
  if (before != written_.end()) return before->second;
  std::string operand;
  const auto* select = std::get_if<SelectExpr>(&expr.node);
  const std::optional<std::int64_t> chosen = select != nullptr ? known(select->condition) : std::nullopt;
  if (chosen)  // the other side may read outside an array
    operand = write(*chosen != 0 ? select->a : select->b);
  else
    operand = std::visit(Visit{*this, expr.type}, expr.node);
  return written_[id] = operand;
}

// `condition ? yes : no` of truths. A poisoned operand that does not decide does no harm, as in C++, where it
// is not evaluated.
std::string ValueWriter::lazily(const std::string& condition, const std::string& yes, const std::string& no) {
  return text_.value("select i1 {}, i1 {}, i1 {}", condition, yes, no);
}

std::string ValueWriter::number(const std::string& condition) {
  return text_.value("select i1 {}, float 1.0, float 0.0", condition);
}

std::string ValueWriter::truth(ExprId id) {
  const std::string value = write(id);
  return text_.value("fcmp une float {}, 0.0", value);
}

std::string ValueWriter::apply(const Form& form, const MathExpr& math) {
  const auto& args = math.args;
  std::vector<std::string> of;
  std::string list;
  if (form.kind != Form::Kind::And && form.kind != Form::Kind::Or && form.kind != Form::Kind::Not)
    for (std::size_t i = 0; i < args.size(); ++i) {
      const bool chooses = form.kind == Form::Kind::Select && i == 0;
      of.push_back(chooses ? truth(args[i]) : write(args[i]));
      list += fmt::format("{}float {}", list.empty() ? "" : ", ", of.back());
    }
  switch (form.kind) {
    case Form::Kind::Helper: return call("float", std::string(form.text), list);
    case Form::Kind::Intrinsic: return text_.value("call float @{}({})", form.text, list);
    case Form::Kind::Instruction: return text_.value("{} float {}, {}", form.text, of[0], of[1]);
    case Form::Kind::Negate: return text_.value("fneg float {}", of[0]);
    case Form::Kind::Square: return text_.value("fmul contract float {0}, {0}", of[0]);
    case Form::Kind::Relu: return text_.value("call float @llvm.maxnum.f32(float {}, float 0.0)", of[0]);
    case Form::Kind::Recip: return text_.value("fdiv float 1.0, {}", of[0]);
    case Form::Kind::Truth: return number(text_.value("fcmp {} float {}, {}", form.text, of[0], of[1]));
    case Form::Kind::And: {
      const std::string a = truth(args[0]);
      return number(lazily(a, truth(args[1]), "false"));
    }
    case Form::Kind::Or: {
      const std::string a = truth(args[0]);
      return number(lazily(a, "true", truth(args[1])));
    }
    case Form::Kind::Not: {
      const std::string value = write(args[0]);
      return number(text_.value("fcmp oeq float {}, 0.0", value));
    }
    case Form::Kind::Select: return text_.value("select i1 {}, float {}, float {}", of[0], of[1], of[2]);
  }
  return "poison";
}

std::string ValueWriter::builtin(Builtin builtin) {
  const auto read = [&](std::string_view name, std::string_view of) {
    if (anew_) return text_.value("call i32 asm sideeffect \"mov.u32 $0, %{}.x;\", \"=r\"()", of);
    return text_.once(std::string(name), name, fmt::format("call i32 @llvm.nvvm.read.ptx.sreg.{}.x()", of));
  };
  switch (builtin) {
    case Builtin::ThreadX: return read("thread_x", "tid");
    case Builtin::BlockX: return read("block_x", "ctaid");
    case Builtin::GridX: return read("grid_x", "nctaid");
    case Builtin::ClusterRank:
      if (anew_) return text_.value("urem i32 {}, {}", read("block_x", "ctaid"), kernel_.cluster);
      return text_.once("cluster_rank", "cluster_rank",
                        fmt::format("urem i32 {}, {}", read("block_x", "ctaid"), kernel_.cluster));
  }
  return "poison";
}

}  // namespace rondo::backend::nvptx
