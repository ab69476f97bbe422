#include "compiler/kernel/verify/expression.h"

#include <fmt/format.h>

#include "compiler/kernel/ir/print_expression.h"
#include "compiler/kernel/passes/integer.h"

namespace rondo::kernel {

namespace {

struct ExpressionCheck {
  const Kernel& kernel;
  const Type type;

  Type of(ExprId id) const { return kernel.expr(id).type; }
  std::string wants(Type wanted, const char* what) const {
    return type == wanted ? "" : fmt::format("{} is {}, not {}", what, type_name(wanted), type_name(type));
  }
  std::string same(ExprId a, ExprId b) const {
    return of(a) == of(b) ? ""
                          : fmt::format("operands of types {} and {}", type_name(of(a)), type_name(of(b)));
  }

  std::string operator()(const IntConst& n) const {
    if (!is_integer(type)) return "an integer constant is i32 or i64";
    return wrap(type, n.value) == n.value ? "" : fmt::format("{} does not fit {}", n.value, type_name(type));
  }
  std::string wants_real(const char* what) const {
    return is_real(type) ? "" : fmt::format("{} is f32 or f64, not {}", what, type_name(type));
  }
  std::string operator()(const FloatConst&) const { return wants_real("a float constant"); }
  std::string operator()(const RegRead& n) const {
    if (!has_entry(kernel.registers, n.reg)) return fmt::format("no register {}", n.reg);
    return wants(kernel.registers[static_cast<std::size_t>(n.reg)].type, "the register");
  }
  std::string operator()(const ArrayRead& n) const {
    if (!has_entry(kernel.arrays, n.array)) return fmt::format("no register array {}", n.array);
    if (!is_integer(of(n.index))) return "an array index is an integer";
    return wants(kernel.arrays[static_cast<std::size_t>(n.array)].type, "the array");
  }
  std::string operator()(const ParamRead& n) const {
    if (!has_entry(kernel.params, n.param)) return fmt::format("no param {}", n.param);
    const Param& param = kernel.params[static_cast<std::size_t>(n.param)];
    return param.buffer ? "a buffer read as a scalar" : wants(param.type, "the param");
  }
  std::string operator()(const BuiltinRead&) const { return wants(Type::I32, "a builtin"); }
  std::string operator()(const IntExpr& n) const {
    if (!is_integer(type)) return "an integer operation of type " + std::string(type_name(type));
    if (std::string defect = same(n.a, n.b); !defect.empty()) return defect;
    return wants(of(n.a), "the operation");
  }
  std::string operator()(const CompareExpr& n) const {
    const std::string defect = same(n.a, n.b);
    return defect.empty() ? wants(Type::Pred, "a comparison") : defect;
  }
  std::string operator()(const LogicExpr& n) const {
    if (of(n.a) != Type::Pred || (n.op != Logic::Not && of(n.b) != Type::Pred))
      return "logic of other than predicates";
    return wants(Type::Pred, "logic");
  }
  std::string operator()(const MathExpr& n) const {
    const scalar::OpInfo& info = scalar::info(n.op);
    if (static_cast<int>(n.op) >= scalar::kKernelOpCount)
      return fmt::format("{} is an operation of steps, which no kernel computes", info.name);
    if (static_cast<int>(n.args.size()) != info.arity)
      return fmt::format("{} takes {} operands, not {}", info.name, info.arity, n.args.size());
    if (std::string defect = wants_real("a scalar function"); !defect.empty()) return defect;
    for (const ExprId arg : n.args)
      if (of(arg) != type) return fmt::format("{} of an operand of type {}", info.name, type_name(of(arg)));
    return "";
  }
  std::string operator()(const CastExpr& n) const {
    const Type from = of(n.a);
    const bool legal = (from == Type::I32 && (type == Type::I64 || is_real(type))) ||
                       (from == Type::I64 && type == Type::I32) || (from == Type::Pred && is_real(type));
    return legal ? "" : fmt::format("no cast from {} to {}", type_name(from), type_name(type));
  }
  std::string operator()(const SelectExpr& n) const {
    if (of(n.condition) != Type::Pred) return "a select's condition is a predicate";
    if (std::string defect = same(n.a, n.b); !defect.empty()) return defect;
    return wants(of(n.a), "the select");
  }
  std::string operator()(const PackExpr& n) const {
    if (!is_half(n.storage)) return fmt::format("a pair of {}", storage_name(n.storage));
    if (of(n.low) != Type::F32 || of(n.high) != Type::F32) return "a pair packed of other than f32";
    return wants(Type::I32, "a packed pair");
  }
  std::string operator()(const UnpackExpr& n) const {
    if (!is_half(n.storage)) return fmt::format("a pair of {}", storage_name(n.storage));
    if (of(n.pair) != Type::I32) return "a packed pair is i32";
    return wants(Type::F32, "half of a packed pair");
  }
  std::string operator()(const RoundExpr& n) const {
    if (of(n.a) != Type::F32) return fmt::format("{} rounded to tf32", type_name(of(n.a)));
    return wants(Type::F32, "a number of tf32");
  }
  std::string operator()(const UniformExpr& n) const {
    if (std::string defect = wants_real("a draw"); !defect.empty()) return defect;
    if (of(n.seed) != type) return fmt::format("a draw by a seed of {}", type_name(of(n.seed)));
    for (const ExprId place : {n.row, n.step, n.head, n.channel})
      if (of(place) != Type::I32) return fmt::format("a draw at a place of {}", type_name(of(place)));
    return "";
  }
};

}  // namespace

std::string expression_defect(const Kernel& kernel, const Expr& expr) {
  return std::visit(ExpressionCheck{kernel, expr.type}, expr.node);
}

}  // namespace rondo::kernel
