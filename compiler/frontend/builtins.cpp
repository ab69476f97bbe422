#include "compiler/frontend/builtins.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

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
    elementwise("min", Op::Min, 2),
    elementwise("select", Op::Select, 3),
    Builtin{"max", BuiltinKind::Max, 1, 2},
    Builtin{"clamp", BuiltinKind::Clamp, 3, 3},
    Builtin{"sum", BuiltinKind::Sum, 1, 1},
    Builtin{"mean", BuiltinKind::Mean, 1, 1},
    Builtin{"uniform", BuiltinKind::Uniform, 1, 1},
};

// Functions of other languages and libraries, with what to write instead.
constexpr std::array<std::pair<std::string_view, const char*>, 46> kForeignFunctions = {{
    {"cond", "write select(condition, a, b)"},
    {"if", "write select(condition, a, b)"},
    {"ifelse", "write select(condition, a, b)"},
    {"where", "write select(condition, a, b)"},
    {"pow", "there is no power: write square(x), x * x, or exp(n * log(x))"},
    {"power", "there is no power: write square(x), x * x, or exp(n * log(x))"},
    {"fmax", "write max(a, b)"},
    {"maximum", "write max(a, b)"},
    {"fmin", "write min(a, b)"},
    {"minimum", "write min(a, b)"},
    {"clip", "write clamp(x, low, high)"},
    {"fabs", "write abs(x)"},
    {"sgn", "write sign(x)"},
    {"ln", "write log(x)"},
    {"log2", "write log(x) / log(2)"},
    {"log10", "write log(x) / log(10)"},
    {"exp2", "write exp(log(2) * x)"},
    {"reciprocal", "write 1 / x"},
    {"inverse", "write 1 / x"},
    {"tan", "write sin(x) / cos(x)"},
    {"sinh", "write (exp(x) - exp(-x)) / 2"},
    {"cosh", "write (exp(x) + exp(-x)) / 2"},
    {"logistic", "write sigmoid(x)"},
    {"logsigmoid", "write -softplus(-x)"},
    {"logit", "write log(x / (1 - x))"},
    {"hardsigmoid", "write clamp(x / 6 + 0.5, 0, 1)"},
    {"hardtanh", "write clamp(x, -1, 1)"},
    {"relu6", "write clamp(x, 0, 6)"},
    {"leakyrelu", "write max(x, 0.01 * x)"},
    {"prelu", "write max(x, a * x), for a of at most 1"},
    {"elu", "write select(x > 0, x, expm1(x))"},
    {"swish", "write silu(x)"},
    {"mish", "write x * tanh(softplus(x))"},
    {"softsign", "write x / (1 + abs(x))"},
    {"softmax", "write e / sum(e), where e = exp(x - max(x))"},
    {"logsumexp", "write m + log(sum(exp(x - m))), where m = max(x)"},
    {"norm", "write sqrt(sum(square(x)))"},
    {"layernorm", "write y * rsqrt(mean(square(y)) + 1e-5), where y = x - mean(x)"},
    {"rmsnorm", "write x * rsqrt(mean(square(x)) + 1e-5)"},
    {"dot", "write R @ x with a matrix, and sum(a * b) for two vectors"},
    {"einsum", "write R @ x with a matrix, and sum(a * b) for two vectors"},
    {"matmul", "write R @ x with a matrix, and sum(a * b) for two vectors"},
    {"mm", "write R @ x with a matrix, and sum(a * b) for two vectors"},
    {"linear", "write R @ x + b"},
    {"dropout", "write select(uniform(mask) < keep, x / keep, 0), where keep is a const"},
    {"rand", "write uniform(NAME): the name tells one draw from another"},
}};

// Without underscores, in small letters: Layer_Norm is layernorm.
std::string plain(const std::string& name) {
  std::string result;
  for (const char c : name) {
    if (c != '_') result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

}  // namespace

const Builtin* find_builtin(const std::string& name) {
  for (const Builtin& builtin : kBuiltins) {
    if (name == builtin.name) return &builtin;
  }
  return nullptr;
}

std::string instead_of(const std::string& name) {
  const std::string wanted = plain(name);
  const auto* found = std::find_if(kForeignFunctions.begin(), kForeignFunctions.end(),
                                   [&](const auto& entry) { return entry.first == wanted; });
  return found == kForeignFunctions.end() ? "" : found->second;
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> names;
  names.reserve(std::size(kBuiltins));
  for (const Builtin& builtin : kBuiltins) names.emplace_back(builtin.name);
  return names;
}

}  // namespace rondo::frontend
