#include "compiler/backend/cuda/expressions.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "compiler/kernel/ir/visit.h"
#include "compiler/support/enum_text.h"

namespace rondo::backend::cuda {

using namespace kernel;

namespace {

constexpr Precedence kPrimary = Precedence::Primary;

struct Operator {
  std::string_view sign;
  Precedence precedence;
};

Operator operator_of(IntOp op) {
  switch (op) {
    case IntOp::Add: return {"+", Precedence::Additive};
    case IntOp::Sub: return {"-", Precedence::Additive};
    case IntOp::Mul: return {"*", Precedence::Multiplicative};
    case IntOp::Div: return {"/", Precedence::Multiplicative};
    case IntOp::Mod: return {"%", Precedence::Multiplicative};
    case IntOp::Shl: return {"<<", Precedence::Shift};
    case IntOp::Shr: return {">>", Precedence::Shift};
    case IntOp::And: return {"&", Precedence::BitAnd};
    case IntOp::Or: return {"|", Precedence::BitOr};
    case IntOp::Xor: return {"^", Precedence::BitXor};
    case IntOp::Min: return {"min", kPrimary};
    case IntOp::Max: return {"max", kPrimary};
  }
  return {"?", kPrimary};
}

Operator operator_of(Compare op) {
  switch (op) {
    case Compare::Less: return {"<", Precedence::Relational};
    case Compare::LessEqual: return {"<=", Precedence::Relational};
    case Compare::Greater: return {">", Precedence::Relational};
    case Compare::GreaterEqual: return {">=", Precedence::Relational};
    case Compare::Equal: return {"==", Precedence::Equality};
    case Compare::NotEqual: return {"!=", Precedence::Equality};
  }
  return {"?", kPrimary};
}

constexpr EnumText<Builtin> kBuiltins[] = {{Builtin::ThreadX, "thread_x"},
                                           {Builtin::BlockX, "block_x"},
                                           {Builtin::GridX, "grid_x"},
                                           {Builtin::ClusterRank, "cluster_rank"}};
static_assert(is_total(kBuiltins));

std::string_view name_of(Builtin builtin) { return to_text(kBuiltins, builtin); }

constexpr EnumText<Type> kTypes[] = {{Type::Pred, "bool"},
                                     {Type::I32, "int"},
                                     {Type::I64, "i64"},
                                     {Type::F32, "float"},
                                     {Type::F64, "double"}};
static_assert(is_total(kTypes));

}  // namespace

std::string_view type_name(Type type) { return to_text(kTypes, type); }

Text float_literal(double value) {
  const float rounded = static_cast<float>(value);
  if (!std::isfinite(rounded))
    return {fmt::format("__int_as_float({:#x})", std::bit_cast<std::uint32_t>(rounded)), kPrimary};
  std::string digits = fmt::format("{}", rounded);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return {digits + "f", std::signbit(rounded) ? Precedence::Unary : kPrimary};
}

Text integer_literal(std::int64_t value, bool wide) {
  // The most negative numbers have no literal: the minus is an operator.
  const std::int64_t least =
      wide ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int32_t>::min();
  const char* suffix = wide ? "LL" : "";
  if (value == least) return {fmt::format("{}{} - 1", value + 1, suffix), Precedence::Additive};
  return {fmt::format("{}{}", value, suffix), value < 0 ? Precedence::Unary : kPrimary};
}

ExpressionWriter::ExpressionWriter(const Kernel& kernel, const Names& names, Prelude& prelude, Uses& uses)
    : kernel_(kernel), names_(names), prelude_(prelude), uses_(uses) {}

void ExpressionWriter::require_type(Type type) { prelude_.require(type_name(type)); }

std::string ExpressionWriter::element(const MemRef& place) {
  const std::string& name = place.space == Space::Global ? names_.param(place.id) : names_.shared(place.id);
  return fmt::format("{}[{}]", name, whole(place.index));
}

std::string ExpressionWriter::address(const ArraySlice& slice) {
  return fmt::format("&{}[{}]", names_.array(slice.array), whole(slice.first));
}

std::string ExpressionWriter::address(const MbarrierRef& barrier) {
  return fmt::format("&{}[{}]", names_.mbarrier(barrier.id), whole(barrier.index));
}

Text ExpressionWriter::infix(Text a, std::string_view sign, Text b, Precedence precedence) {
  return {fmt::format("{} {} {}", operand(std::move(a), precedence), sign,
                      operand(std::move(b), tighter(precedence))),
          precedence};
}

// True if the text of an I64 expression has 64 bits whatever stands beside it.
bool ExpressionWriter::surely_wide(ExprId id) const {
  return kernel_.expr(id).type == Type::I64 && !std::holds_alternative<IntConst>(kernel_.expr(id).node);
}

// An operand beside a 64-bit one: C++ widens it, so a cast or a suffix would only be in the way.
Text ExpressionWriter::unwidened(ExprId id) {
  const Expr& expr = kernel_.expr(id);
  if (const auto* cast = std::get_if<CastExpr>(&expr.node);
      cast != nullptr && kernel_.expr(cast->a).type == Type::I32)
    return write(cast->a);
  if (const auto* constant = std::get_if<IntConst>(&expr.node)) {
    for (const auto& [use, index] : kernel_.named_uses)
      if (use == id) {
        uses_.named.insert(index);
        return {names_.named(index), kPrimary};
      }
    return integer_literal(constant->value, constant->value != static_cast<std::int32_t>(constant->value));
  }
  return write(id);
}

Text ExpressionWriter::integer_infix(ExprId a, std::string_view sign, ExprId b, Precedence precedence) {
  const bool wide = kernel_.expr(a).type == Type::I64;
  const bool left_widens =
      wide && (surely_wide(a) || precedence == Precedence::Shift);  // a shift has its left operand's type
  const bool right_widens = wide && !left_widens && surely_wide(b);
  Text left = right_widens ? unwidened(a) : write(a);
  Text right = left_widens ? unwidened(b) : write(b);
  // a + -1 reads a - 1
  if (sign == "+" && std::holds_alternative<IntConst>(kernel_.expr(b).node) &&
      right.precedence == Precedence::Unary)
    return infix(std::move(left), "-", {right.text.substr(1), kPrimary}, precedence);
  return infix(std::move(left), sign, std::move(right), precedence);
}

// One node to one piece of text.
struct ExpressionWriter::Visit {
  ExpressionWriter& w;
  ExprId id;
  Type type;

  Text operator()(const IntConst& e) const {
    for (const auto& [use, index] : w.kernel_.named_uses) {
      if (use != id) continue;
      w.uses_.named.insert(index);
      const std::string& name = w.names_.named(index);
      if (type != Type::I64) return {name, kPrimary};
      w.require_type(type);
      return {"i64(" + name + ")", kPrimary};
    }
    return integer_literal(e.value, type == Type::I64);
  }
  Text operator()(const FloatConst& e) const { return float_literal(e.value); }
  Text operator()(const RegRead& e) const { return {w.names_.reg(e.reg), kPrimary}; }
  Text operator()(const ArrayRead& e) const {
    return {fmt::format("{}[{}]", w.names_.array(e.array), w.whole(e.index)), kPrimary};
  }
  Text operator()(const ParamRead& e) const { return {w.names_.param(e.param), kPrimary}; }
  Text operator()(const BuiltinRead& e) const {
    w.uses_.builtins.insert(e.builtin);
    return {std::string(name_of(e.builtin)), kPrimary};
  }
  Text operator()(const IntExpr& e) const {
    const Operator o = operator_of(e.op);
    if (o.precedence != kPrimary) return w.integer_infix(e.a, o.sign, e.b, o.precedence);
    std::string a = w.whole(e.a);
    return {fmt::format("{}({}, {})", o.sign, a, w.whole(e.b)), kPrimary};
  }
  Text operator()(const CompareExpr& e) const {
    const Operator o = operator_of(e.op);
    const Type compared = w.kernel_.expr(e.a).type;
    if (compared == Type::I32 || compared == Type::I64)
      return w.integer_infix(e.a, o.sign, e.b, o.precedence);
    Text a = w.write(e.a);
    return w.infix(std::move(a), o.sign, w.write(e.b), o.precedence);
  }
  Text operator()(const LogicExpr& e) const {
    if (e.op == Logic::Not) return {"!" + w.at(e.a, Precedence::Unary), Precedence::Unary};
    const bool both = e.op == Logic::And;
    Text a = w.write(e.a);
    return w.infix(std::move(a), both ? "&&" : "||", w.write(e.b),
                   both ? Precedence::LogicalAnd : Precedence::LogicalOr);
  }
  Text operator()(const MathExpr& e) const { return w.apply(w.form_of(e.op), e); }
  Text operator()(const CastExpr& e) const {
    w.require_type(type);
    if (w.kernel_.expr(e.a).type == Type::Pred && type == Type::F32)
      return {w.at(e.a, Precedence::LogicalOr) + " ? 1.0f : 0.0f", Precedence::Conditional};
    return {fmt::format("{}({})", type_name(type), w.whole(e.a)), kPrimary};
  }
  Text operator()(const SelectExpr& e) const {
    std::string condition = w.at(e.condition, Precedence::LogicalOr);
    std::string a = w.at(e.a, Precedence::LogicalOr);
    return {fmt::format("{} ? {} : {}", condition, a, w.at(e.b, Precedence::Conditional)),
            Precedence::Conditional};
  }
  // The helpers' pairs are unsigned; they are kept in an int, with the same bits.
  Text operator()(const PackExpr& e) const {
    const std::string_view pack = e.storage == Storage::BF16 ? "pack_bf16" : "pack_fp16";
    w.prelude_.require(pack);
    std::string low = w.whole(e.low);
    return {fmt::format("int({}({}, {}))", pack, low, w.whole(e.high)), kPrimary};
  }
  Text operator()(const UnpackExpr& e) const {
    const std::string half = fmt::format("{}_{}", e.high ? "high" : "low", storage_name(e.storage));
    w.prelude_.require(half);
    return {fmt::format("{}({})", half, w.whole(e.pair)), kPrimary};
  }
  Text operator()(const RoundExpr& e) const {
    w.prelude_.require("round_tf32");
    return {fmt::format("round_tf32({})", w.whole(e.a)), kPrimary};
  }
  Text operator()(const UniformExpr& e) const {
    w.prelude_.require("philox_uniform");
    std::string text = fmt::format("philox_uniform({}, {:#x}u", w.whole(e.seed), e.stream);
    for (const ExprId place : {e.row, e.step, e.head, e.channel}) text += ", " + w.whole(place);
    return {text + ")", kPrimary};
  }
};

Text ExpressionWriter::write(ExprId id) {
  const Expr& expr = kernel_.expr(id);
  return std::visit(Visit{*this, id, expr.type}, expr.node);
}

const Form& ExpressionWriter::form_of(scalar::Op op) const {
  const MathText& row = math_text(op);
  return kernel_.math == Math::Fast ? row.fast : row.accurate;
}

Text ExpressionWriter::condition(const Form& form, const MathExpr& math) {
  if (form.kind == Form::Kind::Not) {
    if (!is_condition(math.args[0]))
      return infix(write(math.args[0]), "==", {"0.0f", kPrimary}, Precedence::Equality);
    return {"!" + operand(truth(math.args[0]), Precedence::Unary), Precedence::Unary};
  }
  const bool logic = form.kind == Form::Kind::Logic;
  Text a = logic ? truth(math.args[0]) : write(math.args[0]);
  Text b = logic ? truth(math.args[1]) : write(math.args[1]);
  return infix(std::move(a), form.text, std::move(b), form.precedence);
}

// Whether an F32 expression is a condition turned into 1.0f or 0.0f.
bool ExpressionWriter::is_condition(ExprId id) const {
  const Expr& expr = kernel_.expr(id);
  if (const auto* cast = std::get_if<CastExpr>(&expr.node)) return kernel_.expr(cast->a).type == Type::Pred;
  const auto* math = std::get_if<MathExpr>(&expr.node);
  if (math == nullptr) return false;
  const Form::Kind kind = form_of(math->op).kind;
  return kind == Form::Kind::Truth || kind == Form::Kind::Logic || kind == Form::Kind::Not;
}

Text ExpressionWriter::truth(ExprId id) {
  if (!is_condition(id)) return infix(write(id), "!=", {"0.0f", kPrimary}, Precedence::Equality);
  const Expr& expr = kernel_.expr(id);
  if (const auto* cast = std::get_if<CastExpr>(&expr.node)) return write(cast->a);
  const auto& math = std::get<MathExpr>(expr.node);
  return condition(form_of(math.op), math);
}

Text ExpressionWriter::apply(const Form& form, const MathExpr& math) {
  const auto& args = math.args;
  switch (form.kind) {
    case Form::Kind::Call: {
      prelude_.require(form.text);
      std::string text(form.text);
      for (std::size_t i = 0; i < args.size(); ++i) text += (i == 0 ? "(" : ", ") + whole(args[i]);
      return {text + ")", kPrimary};
    }
    case Form::Kind::Infix: {
      Text a = write(args[0]);
      return infix(std::move(a), form.text, write(args[1]), form.precedence);
    }
    // Tighter than a prefix: -(-x), not the decrement --x.
    case Form::Kind::Prefix: return {std::string(form.text) + at(args[0], kPrimary), form.precedence};
    case Form::Kind::Relu: return {fmt::format("{}({}, 0.0f)", form.text, whole(args[0])), kPrimary};
    case Form::Kind::Recip: return {"1.0f / " + at(args[0], Precedence::Unary), form.precedence};
    case Form::Kind::Truth:
    case Form::Kind::Logic:
    case Form::Kind::Not:
      return {operand(condition(form, math), Precedence::LogicalOr) + " ? 1.0f : 0.0f",
              Precedence::Conditional};
    case Form::Kind::Select: {
      std::string chooses = operand(truth(args[0]), Precedence::LogicalOr);
      std::string a = at(args[1], Precedence::LogicalOr);
      return {fmt::format("{} ? {} : {}", chooses, a, at(args[2], Precedence::Conditional)),
              Precedence::Conditional};
    }
  }
  return {"?", kPrimary};
}

}  // namespace rondo::backend::cuda
