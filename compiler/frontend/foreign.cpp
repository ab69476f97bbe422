#include "compiler/frontend/foreign.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "compiler/frontend/diagnostics.h"

namespace rondo::frontend {
namespace {

constexpr const char* kTransposed =
    "write transpose(R) @ v: of a matrix with leading extents the last two are exchanged";
constexpr const char* kRemainder = "write mod(a, b): the result has the sign of b, as in Python";
constexpr const char* kAngles =
    "write atan2(x, sqrt(1 - square(x))) for asin(x), and atan2(sqrt(1 - square(x)), x) for acos(x)";
constexpr const char* kStopped = "write stop_gradient(x): the value of x, without a derivative";
constexpr const char* kDeclared =
    "write with_gradient(value, smooth): the value of the first, the derivative of the second";
constexpr const char* kOuter =
    "write k * v, where k is declared as k[4], four values a head, and v as v[D]: that is [4, D]; no value "
    "is "
    "[D, D]";

constexpr std::array<std::pair<std::string_view, const char*>, 111> kForeignFunctions = {{
    {"cond", "write select(condition, a, b)"},
    {"if", "write select(condition, a, b)"},
    {"ifelse", "write select(condition, a, b)"},
    {"where", "write select(condition, a, b)"},
    {"power", "write pow(x, n)"},
    {"sqr", "write square(x)"},
    {"fmax", "write max(a, b)"},
    {"maximum", "write max(a, b)"},
    {"fmin", "write min(a, b)"},
    {"minimum", "write min(a, b)"},
    {"amin", "write -max(-x)"},
    {"amax", "write max(x)"},
    {"average", "write mean(x)"},
    {"clip", "write clamp(x, low, high)"},
    {"clampmin", "write max(x, low)"},
    {"clampmax", "write min(x, high)"},
    {"fabs", "write abs(x)"},
    {"sgn", "write sign(x)"},
    {"ln", "write log(x)"},
    {"log10", "write log(x) / log(10)"},
    {"reciprocal", "write 1 / x"},
    {"inverse", "write 1 / x"},
    {"tan", "write sin(x) / cos(x)"},
    {"sinh", "write (expm1(x) - expm1(-x)) / 2"},
    {"cosh", "write (exp(x) + exp(-x)) / 2"},
    {"asin", kAngles},
    {"acos", kAngles},
    {"arctan", "write atan(x)"},
    {"arctan2", "write atan2(y, x)"},
    {"atanh", "write (log1p(x) - log1p(-x)) / 2"},
    {"erfc", "write 1 - erf(x)"},
    {"logistic", "write sigmoid(x)"},
    {"expit", "write sigmoid(x)"},
    {"logsigmoid", "write -softplus(-x)"},
    {"logit", "write log(x / (1 - x))"},
    {"hardsigmoid", "write clamp(x / 6 + 0.5, 0, 1)"},
    {"hardswish", "write x * clamp(x / 6 + 0.5, 0, 1)"},
    {"hardtanh", "write clamp(x, -1, 1)"},
    {"tanhshrink", "write x - tanh(x)"},
    {"relu6", "write clamp(x, 0, 6)"},
    {"leakyrelu", "write max(x, a * x), where a is the slope below 0, such as 0.01"},
    {"prelu", "write max(x, a * x), for a of at most 1"},
    {"elu", "write select(x > 0, x, expm1(x))"},
    {"celu", "write select(x > 0, x, a * expm1(x / a))"},
    {"selu", "write 1.0507 * select(x > 0, x, 1.67326 * expm1(x))"},
    {"swish", "write silu(x)"},
    {"mish", "write x * tanh(softplus(x))"},
    {"softsign", "write x / (1 + abs(x))"},
    {"glu", "write a * sigmoid(b): the halves are two rows"},
    {"swiglu", "write silu(a) * b: the halves are two rows"},
    {"geglu", "write gelu(a) * b: the halves are two rows"},
    {"softmax", "write e = exp(x - max(x)) on a line of its own, then e / sum(e)"},
    {"logsoftmax", "write y = x - max(x) on a line of its own, then y - log(sum(exp(y)))"},
    {"logsumexp", "write m = max(x) on a line of its own, then m + log(sum(exp(x - m)))"},
    {"norm", "write sqrt(sum(square(x)) + eps): without eps its gradient at 0 is no number"},
    {"var", "write y = x - mean(x) on a line of its own, then mean(square(y))"},
    {"std", "write y = x - mean(x) on a line of its own, then sqrt(mean(square(y)) + eps)"},
    {"layernorm",
     "write y = x - mean(x) on a line of its own, then y * rsqrt(mean(square(y)) + eps), times a weight, "
     "plus a bias"},
    {"rmsnorm", "write x * rsqrt(mean(square(x)) + eps), times a weight"},
    {"dot", "write R @ x with a matrix, and sum(a * b) for two vectors"},
    {"einsum", "write R @ x with a matrix, and sum(a * b) for two vectors"},
    {"matmul", "write R @ x with a matrix, and sum(a * b) for two vectors"},
    {"mm", "write R @ x with a matrix, and sum(a * b) for two vectors"},
    {"mv", "write R @ x"},
    {"linear", "write R @ x + b"},
    {"lerp", "write a + w * (b - a)"},
    {"stack", "write [a, b]"},
    {"cat", "write [a, b], which are two rows"},
    {"concat", "write [a, b], which are two rows"},
    {"concatenate", "write [a, b], which are two rows"},
    {"chunk", "declare the parts as rows, x[4, D], and choose them: x[0]"},
    {"split", "declare the parts as rows, x[4, D], and choose them: x[0]"},
    {"zeros", "write 0, which stands for a vector of zeros too"},
    {"zeroslike", "write 0, which stands for a vector of zeros too"},
    {"ones", "write 1, which stands for a vector of ones too"},
    {"oneslike", "write 1, which stands for a vector of ones too"},
    {"logicaland", "write a and b"},
    {"logicalor", "write a or b"},
    {"logicalnot", "write not a"},
    {"dropout", "write select(uniform(mask) < keep, x / keep, 0), where keep is 1 - p"},
    {"bernoulli", "write uniform(NAME) < p: the name tells one draw from another"},
    {"rand", "write uniform(NAME): the name tells one draw from another"},
    {"random", "write uniform(NAME): the name tells one draw from another"},
    {"detach", kStopped},
    {"stopgradient", kStopped},
    {"nograd", kStopped},
    {"customgradient", kDeclared},
    {"customjvp", kDeclared},
    {"surrogate", kDeclared},
    {"heaviside", "write x >= 0"},
    {"sort", "the channels of a head have no order"},
    {"median", "the channels of a head have no order"},
    {"roll", "write rotate(v, n), or shift(v, n) with zeros: channel d gets that of channel d - n"},
    {"cumprod", "write exp(cumsum(log(v))) of positive values"},
    {"scan", "write cumsum(v) along the channels; a sum over the steps is a state: next s = s + x"},
    {"flip", "along the channels there are shift(v, n), rotate(v, n) and cumsum(v)"},
    {"swapaxes", kTransposed},
    {"permute", kTransposed},
    {"fmod", kRemainder},
    {"remainder", kRemainder},
    {"outer", kOuter},
    {"ger", kOuter},
    {"rint", "write round(x): of two whole numbers as near it gives the even one"},
    {"trunc", "write sign(x) * floor(abs(x))"},
    {"frac", "write mod(x, 1)"},
    {"hypot", "write sqrt(square(a) + square(b) + eps): without eps its gradient at 0 is no number"},
    {"isnan", "write not (x == x)"},
    {"nantonum", "write select(x == x, x, 0)"},
    {"reducesum", "write sum(x)"},
    {"reducemean", "write mean(x)"},
    {"reducemax", "write max(x)"},
}};

constexpr std::array<std::pair<std::string_view, const char*>, 16> kForeignStatements = {{
    {"if", "a step has no branches: write name = select(condition, a, b)"},
    {"else", "a step has no branches: write name = select(condition, a, b)"},
    {"for", "a step has no loops: it is one step, and rows are written out"},
    {"while", "a step has no loops: it is one step, and rows are written out"},
    {"def", "write fn name(a, b) = expression"},
    {"lambda", "write fn name(a, b) = expression"},
    {"function", "write fn name(a, b) = expression"},
    {"return", "write output y"},
    {"class", "write cell name(D) { ... }"},
    {"let", "write name = expression"},
    {"var", "write name = expression"},
    {"auto", "write name = expression"},
    {"float", "write name = expression: there are no types"},
    {"weight", "parameters are declared by param R[D, D]"},
    {"bias", "parameters are declared by param b[D]"},
    {"import", "a file holds cells and functions, and reads no other"},
}};

constexpr std::array<std::pair<std::string_view, const char*>, 9> kForeignNames = {{
    {"pi", "write 3.14159265358979, or const pi = 3.14159265358979"},
    {"e", "write exp(1), or const e = 2.71828182845905"},
    {"tau", "write 6.28318530717959, or const tau = 6.28318530717959"},
    {"inf", "there are no infinite constants: write a large number, such as 1e30"},
    {"infinity", "there are no infinite constants: write a large number, such as 1e30"},
    {"nan", "there is no constant that is no number"},
    {"eps", "declare it: const eps = 1e-6"},
    {"true", "conditions are comparisons, such as x > 0"},
    {"false", "conditions are comparisons, such as x > 0"},
}};

// Without underscores, in small letters: Layer_Norm is layernorm.
std::string plain(const std::string& name) {
  std::string result;
  for (const char c : name) {
    if (c != '_') result += small_letter(c);
  }
  return result;
}

template <class Table>
std::string found_in(const Table& table, const std::string& word) {
  const auto* found = std::ranges::find_if(table, [&](const auto& entry) { return entry.first == word; });
  return found == table.end() ? "" : found->second;
}

}  // namespace

std::string instead_of_function(const std::string& name) { return found_in(kForeignFunctions, plain(name)); }

std::string instead_of_name(const std::string& name) { return found_in(kForeignNames, plain(name)); }

std::string instead_of_statement(const std::string& word) { return found_in(kForeignStatements, word); }

}  // namespace rondo::frontend
