#include "compiler/kernel/ir/print_expression.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/ir/visit.h"

namespace rondo::kernel {

namespace {

template <class Table>
std::string entry_name(const Table& table, int id, const char* what) {
  if (id < 0 || static_cast<std::size_t>(id) >= table.size()) return fmt::format("<{} {}?>", what, id);
  return table[static_cast<std::size_t>(id)].name;
}

// How tightly an operator binds: a child is put in parentheses if it binds less tightly than its parent asks.
enum Tightness { kSelect, kOr, kAnd, kCompare, kBits, kShift, kSum, kProduct, kUnary, kAtom };

struct Operator {
  const char* text;
  Tightness tightness;
};

Operator describe(IntOp op) {
  switch (op) {
    case IntOp::Add: return {"+", kSum};
    case IntOp::Sub: return {"-", kSum};
    case IntOp::Mul: return {"*", kProduct};
    case IntOp::Div: return {"/", kProduct};
    case IntOp::Mod: return {"%", kProduct};
    case IntOp::Min: return {"min", kAtom};
    case IntOp::Max: return {"max", kAtom};
    case IntOp::Shl: return {"<<", kShift};
    case IntOp::Shr: return {">>", kShift};
    case IntOp::And: return {"&", kBits};
    case IntOp::Or: return {"|", kBits};
    case IntOp::Xor: return {"^", kBits};
  }
  return {"?", kAtom};
}

const char* describe(Compare op) {
  switch (op) {
    case Compare::Less: return "<";
    case Compare::LessEqual: return "<=";
    case Compare::Greater: return ">";
    case Compare::GreaterEqual: return ">=";
    case Compare::Equal: return "==";
    case Compare::NotEqual: return "!=";
  }
  return "?";
}

const char* describe(Builtin builtin) {
  switch (builtin) {
    case Builtin::ThreadX: return "thread";
    case Builtin::BlockX: return "block";
    case Builtin::GridX: return "blocks";
    case Builtin::ClusterRank: return "cluster_rank";
  }
  return "?";
}

struct Text {
  std::string text;
  Tightness tightness;
};

class ExpressionPrinter {
 public:
  explicit ExpressionPrinter(const Kernel& kernel) : kernel_(kernel) {}

  // Operands come before their users in the table: only ids below `limit` are followed, so printing ends for
  // any table.
  Text print(ExprId id, ExprId limit) {
    if (id < 0 || id >= limit || static_cast<std::size_t>(id) >= kernel_.expressions.size())
      return {fmt::format("<expression {}?>", id), kAtom};
    const Expr& expr = kernel_.expr(id);
    return std::visit([&](const auto& node) { return visit(node, expr, id); }, expr.node);
  }

 private:
  std::string operand(ExprId id, ExprId user, Tightness wanted) {
    Text text = print(id, user);
    return text.tightness < wanted ? "(" + text.text + ")" : text.text;
  }
  Text binary(const char* op, Tightness tightness, ExprId a, ExprId b, ExprId user) {
    if (tightness == kAtom)
      return {fmt::format("{}({}, {})", op, operand(a, user, kSelect), operand(b, user, kSelect)), kAtom};
    const auto right = static_cast<Tightness>(tightness + 1);
    return {fmt::format("{} {} {}", operand(a, user, tightness), op, operand(b, user, right)), tightness};
  }

  Text visit(const IntConst& n, const Expr& expr, ExprId id) {
    for (const auto& [use, name] : kernel_.named_uses)
      if (use == id) return {entry_name(kernel_.named, name, "constant"), kAtom};
    return {fmt::format("{}{}", n.value, expr.type == Type::I64 ? "L" : ""), n.value < 0 ? kUnary : kAtom};
  }
  Text visit(const FloatConst& n, const Expr&, ExprId) {
    const auto value = static_cast<float>(n.value);
    std::string text = fmt::format("{}", value);
    if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
    return {text, std::signbit(value) ? kUnary : kAtom};
  }
  Text visit(const RegRead& n, const Expr&, ExprId) { return {register_name(kernel_, n.reg), kAtom}; }
  Text visit(const ArrayRead& n, const Expr&, ExprId id) {
    return {fmt::format("{}[{}]", array_name(kernel_, n.array), operand(n.index, id, kSelect)), kAtom};
  }
  Text visit(const ParamRead& n, const Expr&, ExprId) {
    return {entry_name(kernel_.params, n.param, "param"), kAtom};
  }
  Text visit(const BuiltinRead& n, const Expr&, ExprId) { return {describe(n.builtin), kAtom}; }
  Text visit(const IntExpr& n, const Expr&, ExprId id) {
    const Operator op = describe(n.op);
    return binary(op.text, op.tightness, n.a, n.b, id);
  }
  Text visit(const CompareExpr& n, const Expr&, ExprId id) {
    return {fmt::format("{} {} {}", operand(n.a, id, kBits), describe(n.op), operand(n.b, id, kBits)),
            kCompare};
  }
  Text visit(const LogicExpr& n, const Expr&, ExprId id) {
    if (n.op == Logic::Not) return {"!" + operand(n.a, id, kUnary), kUnary};
    return n.op == Logic::And ? binary("&&", kAnd, n.a, n.b, id) : binary("||", kOr, n.a, n.b, id);
  }
  Text visit(const MathExpr& n, const Expr&, ExprId id) {
    using scalar::Op;
    if (n.args.size() == 2) {
      if (n.op == Op::Add) return binary("+", kSum, n.args[0], n.args[1], id);
      if (n.op == Op::Sub) return binary("-", kSum, n.args[0], n.args[1], id);
      if (n.op == Op::Mul) return binary("*", kProduct, n.args[0], n.args[1], id);
      if (n.op == Op::Div) return binary("/", kProduct, n.args[0], n.args[1], id);
    }
    std::string text{scalar::info(n.op).name};
    const char* separator = "(";
    for (const ExprId arg : n.args) {
      text += separator + operand(arg, id, kSelect);
      separator = ", ";
    }
    return {text + ")", kAtom};
  }
  Text visit(const CastExpr& n, const Expr& expr, ExprId id) {
    return {fmt::format("{}({})", type_name(expr.type), operand(n.a, id, kSelect)), kAtom};
  }
  Text visit(const SelectExpr& n, const Expr&, ExprId id) {
    return {fmt::format("{} ? {} : {}", operand(n.condition, id, kOr), operand(n.a, id, kOr),
                        operand(n.b, id, kOr)),
            kSelect};
  }
  Text visit(const PackExpr& n, const Expr&, ExprId id) {
    return {fmt::format("pack_{}({}, {})", storage_name(n.storage), operand(n.low, id, kSelect),
                        operand(n.high, id, kSelect)),
            kAtom};
  }
  Text visit(const UnpackExpr& n, const Expr&, ExprId id) {
    return {fmt::format("{}_{}({})", n.high ? "high" : "low", storage_name(n.storage),
                        operand(n.pair, id, kSelect)),
            kAtom};
  }
  Text visit(const UniformExpr& n, const Expr&, ExprId id) {
    std::string text = fmt::format("uniform_{:08x}({}", n.stream, operand(n.seed, id, kSelect));
    for (const ExprId place : {n.row, n.step, n.head, n.channel}) text += ", " + operand(place, id, kSelect);
    return {text + ")", kAtom};
  }
  Text visit(const RoundExpr& n, const Expr&, ExprId id) {
    return {fmt::format("tf32({})", operand(n.a, id, kSelect)), kAtom};
  }

  const Kernel& kernel_;
};

}  // namespace

const char* type_name(Type type) {
  switch (type) {
    case Type::Pred: return "pred";
    case Type::I32: return "i32";
    case Type::I64: return "i64";
    case Type::F32: return "f32";
    case Type::F64: return "f64";
  }
  return "?";
}

std::string register_name(const Kernel& kernel, RegId reg) {
  return entry_name(kernel.registers, reg, "register");
}
std::string array_name(const Kernel& kernel, ArrayId array) {
  return entry_name(kernel.arrays, array, "array");
}

std::string memory_name(const Kernel& kernel, Space space, int id) {
  return space == Space::Global ? entry_name(kernel.params, id, "param")
                                : entry_name(kernel.shared, id, "shared");
}

std::string mbarrier_name(const Kernel& kernel, MbarrierId id) {
  return entry_name(kernel.mbarriers, id, "mbarrier");
}

std::string print(const Kernel& kernel, ExprId expression) {
  return ExpressionPrinter(kernel).print(expression, static_cast<ExprId>(kernel.expressions.size())).text;
}

}  // namespace rondo::kernel
