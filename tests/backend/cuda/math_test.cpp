// The scalar functions of the prelude, computed on the CPU with the worst errors of the hardware
// (formulas.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "compiler/backend/cuda/prelude.h"
#include "tests/backend/cuda/formulas.h"
#include "tests/backend/llvm/functions.h"

namespace rondo::backend::cuda {

namespace {

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

TEST(CudaMath, FormulasAreTheEmittedOnes) {
  ASSERT_FALSE(device::formulas.empty());
  for (const device::Formula& formula : device::formulas) {
    const auto& table = helpers();
    const auto row =
        std::find_if(table.begin(), table.end(), [&](const Helper& h) { return h.name == formula.name; });
    ASSERT_NE(row, table.end()) << formula.name;
    const std::string text(row->text);
    const std::size_t open = text.find("{");
    EXPECT_EQ(without_spaces(text.substr(open)), "{" + without_spaces(formula.body) + "}") << formula.name;
  }
}

constexpr double kAny = std::numeric_limits<double>::infinity();

struct Case {
  std::string name;
  std::function<float(float)> formula;
  std::function<long double(long double)> exact;
  double least = -100, most = 100;  // arguments
  double max_ulp = kAny;            // bound of the error in units of the last place of the result
  double max_absolute = kAny;       // bound of the absolute error
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
long double softplus(long double x) { return std::max(x, 0.0L) + std::log1p(std::exp(-std::abs(x))); }

std::vector<Case> cases() {
  const auto exp = [](long double x) { return std::exp(x); };
  const auto expm1 = [](long double x) { return std::expm1(x); };
  const auto log = [](long double x) { return std::log(x); };
  const auto log1p = [](long double x) { return std::log1p(x); };
  const auto tanh = [](long double x) { return std::tanh(x); };
  const auto silu = [](long double x) { return x * sigmoid(x); };
  const auto gelu = [](long double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0L)); };
  return {
      {"accurate_sigmoid", device::accurate_sigmoid, sigmoid, -87, 100, 2},
      {"accurate_silu", device::accurate_silu, silu, -91.8, 100, 3},
      {"accurate_gelu", device::accurate_gelu, gelu, -12.9, 100, 8},
      {"accurate_tanh", device::accurate_tanh, tanh, -100, 100, 3},
      {"accurate_softplus", device::accurate_softplus, softplus, -87, 100, 3},
      {"exp_of_negative", device::exp_of_negative, exp, -87, 0, 1},
      {"fast_exp", device::fast_exp, exp, -87, 88, 100},
      {"fast_expm1", device::fast_expm1, expm1, -100, 88, 100},
      {"fast_log", device::fast_log, log, 1e-37, 100, kAny, 5e-5},
      {"fast_log1p", device::fast_log1p, log1p, -0.999, 100, 256},
      {"fast_sigmoid", device::fast_sigmoid, sigmoid, -100, 100, kAny, 0x1p-11},
      {"fast_silu", device::fast_silu, silu, -8, 8, kAny, 0x1p-9},  // |x| / 2 times tanh.approx's 2^-11
      {"fast_gelu", device::fast_gelu, gelu, -8, 8, kAny, 0x1p-18},
      {"fast_softplus", device::fast_softplus, softplus, -87, 100, 256},
  };
}

class CudaMathError : public ::testing::TestWithParam<Case> {
 protected:
  // Largest error over floats of both signs from 2^-40 up, all binades evenly, all corners of the hardware's
  // errors.
  struct Worst {
    double ulp = 0, absolute = 0;
    float at = 0;
  };
  static void measure(const Case& test, float x, Worst& worst) {
    if (x < test.least || x > test.most) return;
    const long double exact = test.exact(x);
    const double error = static_cast<double>(std::abs(test.formula(x) - exact));
    worst.absolute = std::max(worst.absolute, error);
    if (error / device::ulp_of(static_cast<double>(exact)) <= worst.ulp) return;
    worst.ulp = error / device::ulp_of(static_cast<double>(exact));
    worst.at = x;
  }
  static Worst worst_error(const Case& test) {
    Worst worst;
    for (std::uint32_t bits = std::bit_cast<std::uint32_t>(0x1p-40f);
         bits < std::bit_cast<std::uint32_t>(128.0f); bits += 9973)
      for (float x : {std::bit_cast<float>(bits), -std::bit_cast<float>(bits)}) measure(test, x, worst);
    return worst;
  }
};

TEST_P(CudaMathError, IsWithinItsBound) {
  const Case& test = GetParam();
  Worst worst;
  for (int first : {-1, 0, 1})
    for (int second : {-1, 0, 1}) {
      // the pairs that meet in a formula: ex2 and rcp in tanh, ex2 and lg2 in softplus
      device::displacement = {first, second, second, first, first};
      const Worst here = worst_error(test);
      worst.absolute = std::max(worst.absolute, here.absolute);
      if (here.ulp > worst.ulp) worst.ulp = here.ulp, worst.at = here.at;
    }
  device::displacement = {};
  RecordProperty("max_ulp", std::to_string(worst.ulp));
  std::printf("%-20s max %.3g ulp (at %.9g), absolute %.3g\n", test.name.c_str(), worst.ulp,
              static_cast<double>(worst.at), worst.absolute);
  EXPECT_LE(worst.ulp, test.max_ulp) << "at " << worst.at;
  if (const auto op = backend::testing::function_of_helper(test.name)) {
    EXPECT_LE(worst.ulp, backend::testing::documented(*op, backend::testing::Column::GpuNvrtc))
        << "docs/numerics.md";
  }
  EXPECT_LE(worst.absolute, test.max_absolute);
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaMathError, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST(CudaMath, LimitsAndNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(device::accurate_sigmoid(kInfinity), 1);
  EXPECT_EQ(device::accurate_sigmoid(-kInfinity), 0);
  EXPECT_EQ(device::accurate_silu(-3e38f), 0);
  EXPECT_EQ(device::accurate_silu(3e38f), 3e38f);
  EXPECT_EQ(device::accurate_silu(-kInfinity), 0);
  EXPECT_EQ(device::accurate_gelu(-3e38f), 0);
  EXPECT_EQ(device::accurate_gelu(-kInfinity), 0);
  EXPECT_EQ(device::accurate_gelu(3e38f), 3e38f);
  EXPECT_EQ(device::exp_of_negative(-kInfinity), 0);
  EXPECT_EQ(device::exp_of_negative(0), 1);
  EXPECT_EQ(device::accurate_tanh(kInfinity), 1);
  EXPECT_EQ(device::accurate_tanh(-kInfinity), -1);
  EXPECT_EQ(device::accurate_tanh(1e30f), 1);
  EXPECT_TRUE(std::signbit(device::accurate_tanh(-0.0f)));
  EXPECT_EQ(device::accurate_softplus(kInfinity), kInfinity);
  EXPECT_EQ(device::accurate_softplus(-kInfinity), 0);
  EXPECT_EQ(device::fast_softplus(kInfinity), kInfinity);
  EXPECT_EQ(device::fast_softplus(-kInfinity), 0);
  EXPECT_EQ(device::fast_sigmoid(-kInfinity), 0);
  EXPECT_EQ(device::fast_expm1(-kInfinity), -1);
  EXPECT_EQ(device::fast_expm1(kInfinity), kInfinity);
  EXPECT_EQ(device::fast_log1p(kInfinity), kInfinity);
  for (auto formula :
       {device::accurate_sigmoid, device::accurate_silu, device::accurate_tanh, device::accurate_softplus,
        device::accurate_gelu, device::fast_exp, device::fast_expm1, device::fast_log, device::fast_log1p,
        device::fast_sigmoid, device::fast_silu, device::fast_gelu, device::fast_softplus})
    EXPECT_TRUE(std::isnan(formula(kNaN)));
}

}  // namespace
}  // namespace rondo::backend::cuda
