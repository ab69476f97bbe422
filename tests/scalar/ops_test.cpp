#include "compiler/scalar/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "compiler/scalar/table.h"

namespace rondo::scalar {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<Op> all_ops() {
  std::vector<Op> ops;
  for (int i = 0; i < kOpCount; ++i) ops.push_back(static_cast<Op>(i));
  return ops;
}

double value(Op op, std::vector<double> args) { return evaluate(op, std::span<const double>(args)); }

using Args = std::vector<double>;
using Formula = std::function<double(const Args&)>;

// The definitions, from <cmath> and not from the table.
const std::map<Op, Formula>& formulas() {
  static const std::map<Op, Formula> table{
      {Op::Add, [](const Args& x) { return x[0] + x[1]; }},
      {Op::Sub, [](const Args& x) { return x[0] - x[1]; }},
      {Op::Mul, [](const Args& x) { return x[0] * x[1]; }},
      {Op::Div, [](const Args& x) { return x[0] / x[1]; }},
      {Op::Neg, [](const Args& x) { return -x[0]; }},
      {Op::Fma, [](const Args& x) { return std::fma(x[0], x[1], x[2]); }},
      {Op::Min, [](const Args& x) { return std::fmin(x[0], x[1]); }},
      {Op::Max, [](const Args& x) { return std::fmax(x[0], x[1]); }},
      {Op::Abs, [](const Args& x) { return std::fabs(x[0]); }},
      {Op::Sign, [](const Args& x) { return x[0] > 0   ? 1.0
                                            : x[0] < 0 ? -1.0
                                                       : 0.0; }},
      {Op::Exp, [](const Args& x) { return std::exp(x[0]); }},
      {Op::Expm1, [](const Args& x) { return std::expm1(x[0]); }},
      {Op::Log, [](const Args& x) { return std::log(x[0]); }},
      {Op::Log1p, [](const Args& x) { return std::log1p(x[0]); }},
      {Op::Sqrt, [](const Args& x) { return std::sqrt(x[0]); }},
      {Op::Rsqrt, [](const Args& x) { return std::pow(x[0], -0.5); }},
      {Op::Square, [](const Args& x) { return std::pow(x[0], 2); }},
      {Op::Recip, [](const Args& x) { return std::pow(x[0], -1); }},
      {Op::Sigmoid, [](const Args& x) { return 0.5 * (1 + std::tanh(0.5 * x[0])); }},
      {Op::Tanh, [](const Args& x) { return std::tanh(x[0]); }},
      {Op::Relu, [](const Args& x) { return std::fmax(x[0], 0); }},
      {Op::Silu, [](const Args& x) { return x[0] / (1 + std::exp(-x[0])); }},
      {Op::Gelu, [](const Args& x) { return 0.5 * x[0] * (1 + std::erf(x[0] / std::sqrt(2.0))); }},
      {Op::Softplus, [](const Args& x) { return std::log(1 + std::exp(x[0])); }},
      {Op::Erf, [](const Args& x) { return std::erf(x[0]); }},
      {Op::Sin, [](const Args& x) { return std::sin(x[0]); }},
      {Op::Cos, [](const Args& x) { return std::cos(x[0]); }},
      {Op::Less, [](const Args& x) { return x[0] < x[1] ? 1.0 : 0.0; }},
      {Op::LessEqual, [](const Args& x) { return x[0] <= x[1] ? 1.0 : 0.0; }},
      {Op::Greater, [](const Args& x) { return x[0] > x[1] ? 1.0 : 0.0; }},
      {Op::GreaterEqual, [](const Args& x) { return x[0] >= x[1] ? 1.0 : 0.0; }},
      {Op::Equal, [](const Args& x) { return x[0] == x[1] ? 1.0 : 0.0; }},
      {Op::NotEqual, [](const Args& x) { return x[0] != x[1] ? 1.0 : 0.0; }},
      {Op::And, [](const Args& x) { return x[0] != 0 && x[1] != 0 ? 1.0 : 0.0; }},
      {Op::Or, [](const Args& x) { return x[0] != 0 || x[1] != 0 ? 1.0 : 0.0; }},
      {Op::Not, [](const Args& x) { return x[0] == 0 ? 1.0 : 0.0; }},
      {Op::Select, [](const Args& x) { return x[0] != 0 ? x[1] : x[2]; }},
      {Op::Round, [](const Args& x) { return x[0] - std::remainder(x[0], 1); }},
      {Op::Floor, [](const Args& x) { return x[0] - (std::fmod(x[0], 1) + (std::fmod(x[0], 1) < 0)); }},
      {Op::Exp2, [](const Args& x) { return std::exp(x[0] * std::log(2.0)); }},
      {Op::Pow, [](const Args& x) { return std::exp(x[1] * std::log(x[0])); }},
      {Op::Atan2, [](const Args& x) { return std::arg(std::complex<double>(x[1], x[0])); }},
      {Op::WithGradient, [](const Args& x) { return x[0]; }},
  };
  return table;
}

bool needs_positive(Op op) {
  return op == Op::Log || op == Op::Log1p || op == Op::Sqrt || op == Op::Rsqrt || op == Op::Pow;
}

// Random points, with equal arguments, zeros and both signs of each argument among them.
std::vector<Args> points(Op op, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-4, 4);
  std::vector<Args> result;
  for (int k = 0; k < 400; ++k) {
    Args args(static_cast<std::size_t>(info(op).arity));
    for (double& x : args) x = needs_positive(op) ? std::fabs(uniform(random)) + 0.01 : uniform(random);
    if (k % 10 == 1 && args.size() > 1) args[1] = args[0];
    if (k % 10 == 2 && !needs_positive(op) && op != Op::Recip) args[0] = 0;
    result.push_back(args);
  }
  return result;
}

TEST(ScalarOps, EveryOpHasItsRow) {
  std::set<std::string_view> names;
  for (const Op op : all_ops()) {
    const OpInfo& row = info(op);
    EXPECT_EQ(row.op, op);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    ASSERT_NE(find(row.name), nullptr);
    EXPECT_EQ(find(row.name)->op, op);
    EXPECT_GE(row.arity, 1);
    EXPECT_LE(row.arity, 3);
    EXPECT_LE(row.fast.latency, row.accurate.latency) << row.name;
    EXPECT_GE(row.fast.alu + row.fast.special, 1) << row.name;
    visit(op, [&]<class Evaluate>(const Row<Evaluate>&) {
      const int callable_with = std::is_invocable_v<Evaluate, double>           ? 1
                                : std::is_invocable_v<Evaluate, double, double> ? 2
                                                                                : 3;
      EXPECT_EQ(callable_with, row.arity) << row.name;
    });
  }
  EXPECT_EQ(find("no_such_function"), nullptr);
  EXPECT_EQ(find(""), nullptr);
}

TEST(ScalarOps, ValuesAreTheDefinitions) {
  std::mt19937 random(1);
  ASSERT_EQ(formulas().size(), static_cast<std::size_t>(kOpCount));
  for (const Op op : all_ops()) {
    for (const Args& args : points(op, random)) {
      const double wanted = formulas().at(op)(args);
      // Two formulas of a few roundings each; gelu's 1 + erf and log(1 + e^x) lose up to a few ulp of 1.
      const double tolerance = 16 * std::numeric_limits<double>::epsilon() * std::max(1.0, std::fabs(wanted));
      EXPECT_NEAR(value(op, args), wanted, tolerance) << info(op).name << " at " << args[0];
    }
  }
}

TEST(ScalarOps, FloatAgreesWithDouble) {
  std::mt19937 random(2);
  for (const Op op : all_ops()) {
    for (const Args& args : points(op, random)) {
      const std::vector<float> narrow(args.begin(), args.end());
      const Args rounded(narrow.begin(), narrow.end());
      const double wanted = value(op, rounded);
      const double tolerance = 16 * std::numeric_limits<float>::epsilon() * std::max(1.0, std::fabs(wanted));
      EXPECT_NEAR(evaluate(op, std::span<const float>(narrow)), wanted, tolerance) << info(op).name;
    }
  }
}

TEST(ScalarOps, CommutativeOpsCommute) {
  std::mt19937 random(3);
  for (const Op op : all_ops()) {
    if (info(op).arity != 2) {
      EXPECT_FALSE(info(op).commutative);
      continue;
    }
    bool differs = false;
    for (const Args& args : points(op, random))
      differs = differs || value(op, args) != value(op, {args[1], args[0]});
    EXPECT_EQ(info(op).commutative, !differs) << info(op).name;
  }
}

TEST(ScalarOps, StableAtTheEnds) {
  EXPECT_EQ(value(Op::Recip, {0}), kInfinity);
  EXPECT_EQ(value(Op::Log, {0}), -kInfinity);
  EXPECT_EQ(value(Op::Sigmoid, {1000}), 1);
  EXPECT_EQ(value(Op::Sigmoid, {-1000}), 0);
  EXPECT_NEAR(value(Op::Sigmoid, {-700}) / std::exp(-700.0), 1, 1e-12);
  EXPECT_EQ(value(Op::Softplus, {1000}), 1000);
  EXPECT_EQ(value(Op::Softplus, {-kInfinity}), 0);
  EXPECT_NEAR(value(Op::Softplus, {-40}) / std::exp(-40.0), 1, 1e-12);
  EXPECT_EQ(value(Op::Tanh, {1000}), 1);
  EXPECT_EQ(value(Op::Silu, {-800}), -0.0);
  EXPECT_NEAR(value(Op::Gelu, {-10}) / (-10 * 0.5 * std::erfc(10 / std::sqrt(2.0))), 1, 1e-12);
  EXPECT_NEAR(value(Op::Log1p, {1e-18}), 1e-18, 1e-30);
  const std::vector<float> large{200.0F};
  EXPECT_EQ(evaluate(Op::Softplus, std::span<const float>(large)), 200.0F);
  EXPECT_EQ(evaluate(Op::Sigmoid, std::span<const float>(large)), 1.0F);
}

TEST(ScalarOps, WholeNumbersAndPowers) {
  for (const auto& [x, whole] : {std::pair{0.5, 0.0}, {1.5, 2.0}, {2.5, 2.0}, {-0.5, 0.0}, {-1.5, -2.0}})
    EXPECT_EQ(value(Op::Round, {x}), whole) << x;
  EXPECT_EQ(value(Op::Floor, {-0.5}), -1);
  EXPECT_EQ(value(Op::Pow, {-2, 3}), -8);
  EXPECT_TRUE(std::isnan(value(Op::Pow, {-2, 0.5})));
  EXPECT_EQ(value(Op::Pow, {0, 0}), 1);
  EXPECT_EQ(value(Op::Atan2, {0, 0}), 0);
}

TEST(ScalarOps, NanLosesAgainstANumberInMinAndMax) {
  for (const Op op : {Op::Min, Op::Max}) {
    EXPECT_EQ(value(op, {kNan, 2}), 2);
    EXPECT_EQ(value(op, {2, kNan}), 2);
    EXPECT_TRUE(std::isnan(value(op, {kNan, kNan})));
  }
  EXPECT_EQ(value(Op::Relu, {kNan}), 0);
  EXPECT_EQ(value(Op::Select, {1, 3, kNan}), 3);
  EXPECT_EQ(value(Op::Select, {0, kNan, 4}), 4);
}

}  // namespace
}  // namespace rondo::scalar
