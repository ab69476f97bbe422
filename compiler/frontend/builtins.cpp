#include "compiler/frontend/builtins.h"

#include <array>

namespace rondo::frontend {
namespace {

using scalar::Op;

constexpr Builtin elementwise(const char* name, Op op, int arguments = 1) {
  return {name, BuiltinKind::Elementwise, arguments, arguments, op};
}

constexpr std::array kBuiltins = {
    elementwise("abs", Op::Abs),
    elementwise("sign", Op::Sign),
    elementwise("square", Op::Square),
    elementwise("sqrt", Op::Sqrt),
    elementwise("rsqrt", Op::Rsqrt),
    elementwise("exp", Op::Exp),
    elementwise("expm1", Op::Expm1),
    elementwise("log", Op::Log),
    elementwise("log1p", Op::Log1p),
    elementwise("sigmoid", Op::Sigmoid),
    elementwise("tanh", Op::Tanh),
    elementwise("relu", Op::Relu),
    elementwise("silu", Op::Silu),
    elementwise("gelu", Op::Gelu),
    elementwise("softplus", Op::Softplus),
    elementwise("erf", Op::Erf),
    elementwise("sin", Op::Sin),
    elementwise("cos", Op::Cos),
    elementwise("round", Op::Round),
    elementwise("floor", Op::Floor),
    elementwise("exp2", Op::Exp2),
    elementwise("pow", Op::Pow, 2),
    elementwise("atan2", Op::Atan2, 2),
    elementwise("with_gradient", Op::WithGradient, 2),
    Builtin{"min", BuiltinKind::Elementwise, 2, kManyArguments, Op::Min},
    elementwise("select", Op::Select, 3),
    Builtin{"max", BuiltinKind::Max, 1, kManyArguments, Op::Max},
    Builtin{"clamp", BuiltinKind::Composed, 3, 3},
    Builtin{"ceil", BuiltinKind::Composed, 1, 1},
    Builtin{"mod", BuiltinKind::Composed, 2, 2},
    Builtin{"log2", BuiltinKind::Composed, 1, 1},
    Builtin{"atan", BuiltinKind::Composed, 1, 1},
    Builtin{"stop_gradient", BuiltinKind::Composed, 1, 1},
    Builtin{"sum", BuiltinKind::Sum, 1, 2},
    Builtin{"mean", BuiltinKind::Mean, 1, 2},
    Builtin{"cumsum", BuiltinKind::Cumsum, 1, 1},
    Builtin{"maxplus", BuiltinKind::MaxPlus, 2, 2},
    Builtin{"transpose", BuiltinKind::Transpose, 1, 1},
    Builtin{"shift", BuiltinKind::Move, 2, 2},
    Builtin{"rotate", BuiltinKind::Move, 2, 2},
    Builtin{"uniform", BuiltinKind::Uniform, 1, 1},
    Builtin{"step", BuiltinKind::Step, 0, 0},
};

}  // namespace

bool is_over_rows(const Builtin& builtin, const ast::Call& call) {
  if (builtin.kind != BuiltinKind::Sum && builtin.kind != BuiltinKind::Mean) return false;
  if (call.arguments.size() != 2) return false;
  const auto* word = std::get_if<ast::Name>(&call.arguments[1]->node);
  return word != nullptr && word->name == "rows";
}

const Builtin* find_builtin(const std::string& name) {
  for (const Builtin& builtin : kBuiltins) {
    if (name == builtin.name) return &builtin;
  }
  return nullptr;
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> names;
  names.reserve(std::size(kBuiltins));
  for (const Builtin& builtin : kBuiltins) names.emplace_back(builtin.name);
  return names;
}

}  // namespace rondo::frontend
