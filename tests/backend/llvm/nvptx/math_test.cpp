// The scalar functions of the LLVM prelude, evaluated on the CPU: those that the CUDA text has too give the
// same bits, and those that stand for the CUDA library keep within their bounds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include "compiler/backend/llvm/nvptx/module_text.h"
#include "compiler/scalar/storage.h"
#include "tests/backend/cuda/formulas.h"
#include "tests/backend/llvm/functions.h"
#include "tests/backend/llvm/nvptx/evaluator.h"

namespace rondo::backend::nvptx {
namespace {

namespace device = cuda::device;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// All helpers of numbers, with the hardware and, unless `precise`, the CUDA library as formulas.h has them.
testing::Evaluator evaluator(bool precise) {
  testing::Evaluator result;
  result.replace("llvm.nvvm.ex2.approx.ftz.f", device::ex2_approx);
  result.replace("llvm.nvvm.lg2.approx.ftz.f", device::lg2_approx);
  result.replace("llvm.nvvm.rcp.approx.ftz.f", device::rcp_approx);
  result.replace("tanh.approx.f32", device::tanh_approx);
  if (!precise) {
    result.replace("precise_log1p", device::log1pf);
    result.replace("precise_erf", device::erff);
  }
  bool numbers = false;
  for (const Helper& helper : helpers()) {
    numbers = numbers || helper.name == "precise_exp";  // those before it move words and wait
    if (numbers) result.add(helper.text);
  }
  return result;
}

struct Same {
  std::string name;
  float (*formula)(float);
};

// Every formula of the CUDA text has its equal here.
TEST(LlvmMath, TheSameStepsAsTheCudaText) {
  const testing::Evaluator evaluate = evaluator(false);
  const Same all[] = {{"fast_exp", device::fast_exp},
                      {"fast_expm1", device::fast_expm1},
                      {"fast_log", device::fast_log},
                      {"fast_log1p", device::fast_log1p},
                      {"fast_sigmoid", device::fast_sigmoid},
                      {"fast_silu", device::fast_silu},
                      {"fast_gelu", device::fast_gelu},
                      {"fast_softplus", device::fast_softplus},
                      {"exp_of_negative", device::exp_of_negative},
                      {"accurate_sigmoid", device::accurate_sigmoid},
                      {"accurate_silu", device::accurate_silu},
                      {"accurate_tanh", device::accurate_tanh},
                      {"accurate_gelu", device::accurate_gelu},
                      {"accurate_softplus", device::accurate_softplus}};
  EXPECT_EQ(std::size(all), device::formulas.size());
  for (const Same& function : all) {
    const auto expect_same = [&](float x) {
      const float here = evaluate(function.name, x), there = function.formula(x);
      EXPECT_TRUE(std::bit_cast<std::uint32_t>(here) == std::bit_cast<std::uint32_t>(there) ||
                  (std::isnan(here) && std::isnan(there)))
          << function.name << "(" << x << ") = " << here << ", not " << there;
    };
    for (const float x : {0.0f, -0.0f, kInfinity, -kInfinity, kNaN, 0.125f, -0.125f, 0.65f, 88.0f, -88.0f})
      expect_same(x);
    for (std::uint64_t bits = 0; bits < (1ULL << 32); bits += 2'000'003)
      expect_same(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    for (float x = -100; x < 100; x += 0.0371f) expect_same(x);
    ASSERT_FALSE(HasFailure());
  }
}

struct Precise {
  std::string name;
  std::function<double(double)> exact;
  double ulps;
  float least = -std::numeric_limits<float>::max(), most = std::numeric_limits<float>::max();
};

void PrintTo(const Precise& function, std::ostream* out) { *out << function.name; }

std::vector<Precise> precise() {
  return {{"precise_exp", [](double x) { return std::exp(x); }, 1.1},
          {"precise_exp2", [](double x) { return std::exp2(x); }, 1},
          {"precise_expm1", [](double x) { return std::expm1(x); }, 2},
          {"precise_log", [](double x) { return std::log(x); }, 1, 0x1p-149f},
          {"precise_log1p", [](double x) { return std::log1p(x); }, 1.5, -0x1.fffffep-1f},
          {"precise_erf", [](double x) { return std::erf(x); }, 1.5},
          {"accurate_gelu", [](double x) { return x / 2 * std::erfc(-x * std::sqrt(0.5)); }, 7, -12.9f},
          {"precise_sin", [](double x) { return std::sin(x); }, 1.6},
          {"precise_cos", [](double x) { return std::cos(x); }, 1.6}};
}

class LlvmMathError : public ::testing::TestWithParam<Precise> {};

TEST_P(LlvmMathError, IsWithinItsBound) {
  const Precise& function = GetParam();
  const testing::Evaluator evaluate = evaluator(true);
  double worst = 0;
  float worst_at = 0;
  const auto measure = [&](float x) {
    if (!(x >= function.least && x <= function.most)) return;
    const double exact = function.exact(x), got = evaluate(function.name, x);
    if (std::abs(exact) > static_cast<double>(std::numeric_limits<float>::max())) {
      EXPECT_EQ(std::abs(got), kInfinity) << x;
      return;
    }
    const double error = std::abs(got - exact) / device::ulp_of(exact == 0 ? 0x1p-149 : exact);
    if (error > worst) worst = error, worst_at = x;
  };
  for (std::uint64_t bits = 0; bits < (1ULL << 32); bits += 20'011)
    measure(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (float x = -12; x < 12; x += 0.000271f) measure(x);
  for (float x = -110; x < 110; x += 0.00571f) measure(x);
  std::printf("%-15s max %.3g ulp (at %.9g)\n", function.name.c_str(), worst, static_cast<double>(worst_at));
  EXPECT_LE(worst, function.ulps) << "at " << worst_at;
  if (const auto op = backend::testing::function_of_helper(function.name)) {
    EXPECT_LE(worst, backend::testing::documented(*op, backend::testing::Column::GpuLlvm))
        << "docs/numerics.md";
  }
}

INSTANTIATE_TEST_SUITE_P(Nvptx, LlvmMathError, ::testing::ValuesIn(precise()),
                         [](const auto& test) { return test.param.name; });

// Of two numbers, of all sizes and of sizes near 1, with the kinds of those that have special results.
TEST(LlvmMath, FunctionsOfTwoNumbers) {
  const testing::Evaluator evaluate = evaluator(true);
  const auto value = [&](const char* name, float a, float b) {
    const std::uint64_t bits =
        evaluate(name, {std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b)});
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  };
  for (const auto& [name, op, ulps] :
       {std::tuple{"precise_pow", scalar::Op::Pow, 1.1}, {"precise_atan2", scalar::Op::Atan2, 1.6}}) {
    double worst = 0;
    backend::testing::for_each_pair(2'000, [&](float a, float b) {
      const double exact = scalar::evaluate(op, std::array<double, 2>{a, b});
      backend::testing::expect_right(value(name, a, b), exact, fmt::format("{}({}, {})", name, a, b), worst);
    });
    std::printf("%-15s max %.3g ulp\n", name, worst);
    EXPECT_LE(worst, ulps) << name;
  }
}

TEST(LlvmMath, LimitsAndNaN) {
  const testing::Evaluator evaluate = evaluator(true);
  for (const Precise& function : precise())
    EXPECT_TRUE(std::isnan(evaluate(function.name, kNaN))) << function.name;
  EXPECT_EQ(evaluate("precise_exp", kInfinity), kInfinity);
  EXPECT_EQ(evaluate("precise_exp", -kInfinity), 0);
  EXPECT_EQ(evaluate("precise_exp", 0), 1);
  EXPECT_EQ(evaluate("precise_expm1", kInfinity), kInfinity);
  EXPECT_EQ(evaluate("precise_expm1", -kInfinity), -1);
  EXPECT_EQ(evaluate("precise_log", 0), -kInfinity);
  EXPECT_EQ(evaluate("precise_log", kInfinity), kInfinity);
  EXPECT_EQ(evaluate("precise_log", 1), 0);
  EXPECT_TRUE(std::isnan(evaluate("precise_log", -1)));
  EXPECT_EQ(evaluate("precise_log1p", -1), -kInfinity);
  EXPECT_EQ(evaluate("precise_log1p", kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(evaluate("precise_log1p", -1.5f)));
  EXPECT_EQ(evaluate("precise_erf", kInfinity), 1);
  EXPECT_EQ(evaluate("precise_erf", -kInfinity), -1);
  EXPECT_EQ(evaluate("accurate_gelu", kInfinity), kInfinity);
  EXPECT_EQ(evaluate("accurate_gelu", -kInfinity), 0);
  EXPECT_EQ(evaluate("accurate_gelu", -3e38f), 0);
  EXPECT_TRUE(std::isnan(evaluate("precise_sin", kInfinity)));
  EXPECT_TRUE(std::isnan(evaluate("precise_cos", -kInfinity)));
  EXPECT_EQ(evaluate("precise_cos", 0), 1);
  for (const char* odd : {"precise_expm1", "precise_log1p", "precise_erf", "precise_sin"})
    EXPECT_TRUE(std::signbit(evaluate(odd, -0.0f))) << odd;
}

// A form for GPUs before compute capability 8.0, which have no such instruction.
TEST(LlvmMath, Bf16IsRoundedByItsBits) {
  testing::Evaluator evaluate;
  for (const Helper& helper : helpers(target::Target::gpu(75)))
    if (helper.name == "pack_bf16") evaluate.add(helper.text);
  for (std::uint32_t high = 0; high < 0x10000; high += 7)
    for (const std::uint32_t low : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      const std::uint32_t bits = high << 16 | low;
      const float x = std::bit_cast<float>(bits);
      const std::uint64_t expected = std::isnan(x) ? 0x7fff : scalar::half_bits(scalar::Storage::BF16, x);
      ASSERT_EQ(evaluate("pack_bf16", {bits, 0x40400000U}), expected | 0x4040U << 16) << std::hex << bits;
      ASSERT_EQ(evaluate("pack_bf16", {0x40400000U, bits}), 0x4040U | expected << 16) << std::hex << bits;
    }
}

// Every helper stands after those that it needs, and defines what it is named.
TEST(LlvmHelpers, StandAfterWhatTheyNeed) {
  for (const int capability : {75, 90}) {
    std::vector<std::string_view> seen;
    for (const Helper& helper : helpers(target::Target::gpu(capability))) {
      for (const std::string_view needed : helper.needs)
        EXPECT_TRUE(std::ranges::find(seen, needed) != seen.end()) << helper.name << " needs " << needed;
      EXPECT_NE(helper.text.find("@" + std::string(helper.name) + "("), std::string_view::npos)
          << helper.name;
      seen.push_back(helper.name);
    }
  }
}

}  // namespace
}  // namespace rondo::backend::nvptx
