// The scalar functions of the prelude, computed on the CPU with the hardware's approximations replaced by
// exact values displaced by the errors their documentation allows (PTX ISA 8.x, 9.7.3; CUDA C++ Programming
// Guide, "Mathematical Functions") or, where larger, an H200 showed over all floats (ex2.approx 2.06,
// expf 1.93 ulp). FORMULA holds a body once: it is compiled here and compared, as text, with what the backend
// emits.
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

namespace rondo::backend::cuda {
namespace device {

// Where in its error interval each approximation lands: -1, 0 or 1 times the bound.
struct Displacement {
  int ex2 = 0, rcp = 0, lg2 = 0, tanh = 0, library = 0;
};
Displacement displacement;

float flushed(float x) {
  return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x;
}

double ulp_of(double exact) {
  return std::ldexp(1.0, std::max(std::ilogb(exact), std::numeric_limits<float>::min_exponent - 1) - 23);
}

// The float furthest from `exact`, towards `sign`, that an error of at most `ulps` allows.
float displaced(double exact, double ulps, int sign) {
  if (!std::isfinite(exact) || exact == 0) return static_cast<float>(exact);
  const double limit = ulps * ulp_of(exact);
  const float moved = static_cast<float>(exact + sign * limit);
  return std::abs(moved - exact) <= limit ? moved : std::nextafter(moved, static_cast<float>(exact));
}

float ex2_approx(float x) {
  return flushed(displaced(std::exp2(static_cast<double>(x)), 2.1, displacement.ex2));
}
float rcp_approx(float x) { return flushed(displaced(1.0 / x, 1, displacement.rcp)); }
// Absolute error 2^-22 for arguments in (1/2, 2), relative outside.
float lg2_approx(float x) {
  const double exact = std::log2(static_cast<double>(x));
  return static_cast<float>(exact + 0x1p-22 * displacement.lg2 *
                                        std::max(std::isfinite(exact) ? std::abs(exact) : 0, 1.0));
}
float tanh_approx(float x) {
  return static_cast<float>(std::tanh(static_cast<double>(x)) * (1 + 0x1p-11 * displacement.tanh));
}
float log1pf(float x) { return displaced(std::log1p(static_cast<double>(x)), 1, displacement.library); }
float erff(float x) { return displaced(std::erf(static_cast<double>(x)), 2, displacement.library); }
float __uint_as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t __float_as_uint(float x) { return std::bit_cast<std::uint32_t>(x); }
float fmaf(float a, float b, float c) { return std::fma(a, b, c); }
float fabsf(float x) { return std::fabs(x); }
float fmaxf(float a, float b) { return std::fmax(a, b); }
float copysignf(float a, float b) { return std::copysign(a, b); }

struct Formula {
  std::string name;
  std::string body;
};
std::vector<Formula> formulas;
struct Recorded {
  Recorded(std::string name, std::string body) { formulas.push_back({std::move(name), std::move(body)}); }
};

// A template cannot give the text of what it compiles.
#define FORMULA(NAME, ...)            \
  float NAME(float x) { __VA_ARGS__ } \
  const Recorded NAME##_recorded(#NAME, #__VA_ARGS__)

// clang-format off
FORMULA(fast_exp, return ex2_approx(x * 1.44269504f););
FORMULA(fast_expm1,
  const float series = x * fmaf(x, fmaf(x, fmaf(x, 1.0f / 24, 1.0f / 6), 0.5f), 1.0f);
  return fabsf(x) < 0.125f ? series : fast_exp(x) - 1.0f;
);
FORMULA(fast_log, return lg2_approx(x) * 0.693147181f;);
FORMULA(fast_log1p,
  const float series = x * fmaf(x, fmaf(x, 1.0f / 3, -0.5f), 1.0f);
  return fabsf(x) < 0.015625f ? series : fast_log(1.0f + x);
);
FORMULA(fast_sigmoid, return fmaf(0.5f, tanh_approx(0.5f * x), 0.5f););
FORMULA(fast_silu, const float half = 0.5f * x; return fmaf(half, tanh_approx(half), half););
FORMULA(fast_gelu, return 0.5f * x * (1.0f + erff(0.707106781f * x)););
FORMULA(fast_softplus, return fmaxf(x, 0.0f) + fast_log1p(fast_exp(-fabsf(x))););
FORMULA(exp_of_negative,
  const float y = x < -88.0f ? -88.0f : x;
  const float shifted = fmaf(y, 1.44269504f, 12583039.0f);
  const float n = shifted - 12583039.0f;
  const float r = fmaf(n, 2.12194440e-4f, fmaf(n, -0.693359375f, y));
  float p = fmaf(r, 1.98756915e-4f, 1.39819995e-3f);
  p = fmaf(r, p, 8.33345191e-3f);
  p = fmaf(r, p, 4.16657959e-2f);
  p = fmaf(r, p, 1.66666655e-1f);
  p = fmaf(r, p, 5.00000012e-1f);
  p = fmaf(p * r, r, r) + 1.0f;
  return p * __uint_as_float(__float_as_uint(shifted) << 23);
);
FORMULA(accurate_sigmoid,
  const float e = exp_of_negative(-fabsf(x));
  const float d = 1.0f + e;
  float r = rcp_approx(d);
  r = fmaf(fmaf(-d, r, 1.0f), r, r);
  return (x >= 0.0f ? 1.0f : e) * r;
);
FORMULA(accurate_silu, return x * accurate_sigmoid(x););
FORMULA(accurate_tanh,
  const float t = fabsf(x);
  const float u = t * t;
  float p = fmaf(u, -0.00551486947f, 0.0204691216f);
  p = fmaf(u, p, -0.0536879227f);
  p = fmaf(u, p, 0.133308291f);
  p = fmaf(u, p, -0.333332598f);
  const float near = fmaf(t * u, p, t);
  const float far = fmaf(-2.0f, rcp_approx(1.0f + ex2_approx(t * 2.88539008f)), 1.0f);
  return copysignf(t >= 0.65f ? far : near, x);
);
FORMULA(accurate_softplus, return fmaxf(x, 0.0f) + log1pf(exp_of_negative(-fabsf(x))););
// clang-format on

}  // namespace device

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
      {"accurate_sigmoid", device::accurate_sigmoid, sigmoid, -87, 100, 3},
      {"accurate_silu", device::accurate_silu, silu, -87, 100, 4},
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
  EXPECT_LE(worst.absolute, test.max_absolute);
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaMathError, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST(CudaMath, LimitsAndNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(device::accurate_sigmoid(kInfinity), 1);
  EXPECT_EQ(device::accurate_sigmoid(-kInfinity), 0);
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
        device::fast_exp, device::fast_expm1, device::fast_log, device::fast_log1p, device::fast_sigmoid,
        device::fast_silu, device::fast_gelu, device::fast_softplus})
    EXPECT_TRUE(std::isnan(formula(kNaN)));
}

}  // namespace
}  // namespace rondo::backend::cuda
