// Every function in fp64 as code of this machine, at each level, beside the same in 64 bits of precision:
// over numbers of all sizes and over those that cells have. None errs by more than the table of
// docs/numerics.md says.
#ifdef RONDO_BUILT_LLVM
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <random>

#include "compiler/kernel/builder/builder.h"
#include "compiler/kernel/passes/in_double.h"
#include "compiler/scalar/table.h"
#include "tests/backend/llvm/functions.h"
#include "tests/backend/llvm/host/run_kernel.h"

namespace rondo::backend {
namespace {

using scalar::Op;
using Long = long double;
static_assert(std::numeric_limits<Long>::digits >= 64);

constexpr int kDoubleLanes = 16;
constexpr double kEndlessDouble = std::numeric_limits<double>::infinity();

// A function of as many numbers as it takes.
kernel::Kernel double_function_of(Op op) {
  kernel::Builder b("function", kDoubleLanes, kernel::Math::Accurate);
  std::vector<kernel::Memory> in;
  for (int i = 0; i < scalar::info(op).arity; ++i)
    in.push_back(b.input(fmt::format("x{}", i), kernel::Storage::F32));
  const auto y = b.output("y", kernel::Storage::F32);
  const kernel::Value at = b.let("i", b.block() * kDoubleLanes + b.thread());
  std::vector<kernel::Value> arguments;
  for (const kernel::Memory& memory : in) arguments.push_back(b.load("v", memory[at]));
  b.store(y[at], b.math(op, arguments));
  return kernel::in_double(b.finish());
}

// The table's own formulas, but for gelu, whose constant has the digits of a double.
Long exact_of(Op op, const std::vector<Long>& x) {
  if (op == Op::Gelu) return x[0] / 2 * std::erfc(-x[0] * 0.707106781186547524400844362104849039L);
  Long result = 0;
  scalar::visit(op, [&]<class Evaluate>(const scalar::Row<Evaluate>& row) {
    if constexpr (std::is_invocable_v<Evaluate, Long>)
      result = row.evaluate(x[0]);
    else if constexpr (std::is_invocable_v<Evaluate, Long, Long>)
      result = row.evaluate(x[0], x[1]);
    else
      result = row.evaluate(x[0], x[1], x[2]);
  });
  return result;
}

// The error in units of the last place of the exact result, of 2^-1074 where that is below 2^-1022. Results
// that are infinite or no number are so on both sides; of minus infinity silu and gelu are the limit.
double ulps_off(Op op, const std::vector<Long>& x, double got) {
  const Long exact = exact_of(op, x);
  const auto nearest = static_cast<double>(exact);
  const std::string what =
      fmt::format("{}({:a}, {:a}) is {:a}, not {:a}", scalar::info(op).name, static_cast<double>(x[0]),
                  static_cast<double>(x.back()), got, nearest);
  if (!std::isfinite(nearest) || !std::isfinite(got)) {
    const bool limit =
        x[0] == -static_cast<Long>(kEndlessDouble) && got == 0 && (op == Op::Silu || op == Op::Gelu);
    const bool largest = std::abs(nearest) > 0x1.ffffffffffff8p1023 && std::abs(got) > 0x1.ffffffffffff8p1023;
    EXPECT_TRUE((std::isnan(nearest) && std::isnan(got)) || nearest == got || limit || largest) << what;
    return 0;
  }
  if (exact == 0) {
    EXPECT_TRUE(got == 0) << what;
    return 0;
  }
  const int exponent = std::max(std::ilogb(exact) - 52, -1074);
  return static_cast<double>(std::ldexp(std::abs(static_cast<Long>(got) - exact), -exponent));
}

std::vector<double> numbers(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> near(-12, 12), far(-760, 760);
  std::vector<double> result = {0,
                                1,
                                2,
                                0.5,
                                1e300,
                                kEndlessDouble,
                                0x1p-1074,
                                0x1p-1022,
                                709.9,
                                745.2,
                                0x1p19,
                                1e22,
                                std::numeric_limits<double>::quiet_NaN(),
                                1 + 0x1p-52,
                                1 - 0x1p-53,
                                3};
  for (std::size_t i = 0; i < 16; ++i) result.push_back(-result[i]);
  for (int i = 0; i < 2048; ++i) {
    result.push_back(std::bit_cast<double>(random()));
    result.push_back(near(random));
    result.push_back(far(random));
    result.push_back(1 + 0x1p-4 * near(random));
    result.push_back(std::ldexp(near(random), -static_cast<int>(random() % 40)));
  }
  result.resize(result.size() / kDoubleLanes * kDoubleLanes);
  return result;
}

class DoubleFunctions : public ::testing::TestWithParam<Op> {};

// Silu and gelu multiply a number that is below 2^-1022, and has few bits then: there they are no nearer than
// their factor.
bool has_few_bits(Op op, double x) { return (op == Op::Silu && x < -708) || (op == Op::Gelu && x < -37.5); }

TEST_P(DoubleFunctions, KeepTheirBounds) {
  const Op op = GetParam();
  const std::vector<double> x = numbers(static_cast<std::uint64_t>(op) + 1);
  for (int level = 2; level <= highest_vector_level(); ++level) {
    NativeKernel native(double_function_of(op), {target::Target::Kind::X86_64, level});
    std::vector<double> y(x.size());
    native.run(static_cast<int>(x.size()) / kDoubleLanes, {pointer_to(x.data()), pointer_to(y.data())});
    double worst = 0, at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double off = ulps_off(op, {static_cast<Long>(x[i])}, y[i]);
      if (off > worst && !has_few_bits(op, x[i])) worst = off, at = x[i];
      ASSERT_FALSE(HasFailure());
    }
    std::printf("%s, level %d: %.3g ulp at %.17g\n", std::string(scalar::info(op).name).c_str(), level, worst,
                at);
    EXPECT_LE(worst, testing::documented(op, testing::Column::CpuDouble))
        << scalar::info(op).name << ", level " << level << ", at " << at;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DoubleFunctions, ::testing::ValuesIn(testing::kFunctions),
                         [](const auto& test) { return std::string(scalar::info(test.param).name); });

// Functions of two and three numbers, and those to whole ones, which are exact.
TEST(DoubleFunctionsOfTwo, KeepTheirBounds) {
  std::vector<double> a = numbers(3), b = numbers(4);
  testing::for_each_pair(4096, [&](float x, float y) { a.push_back(x), b.push_back(y); });
  b.resize(a.size());
  a.resize(a.size() / kDoubleLanes * kDoubleLanes);
  for (int level = 2; level <= highest_vector_level(); ++level)
    for (const auto& [op, ulps] : {std::pair{Op::Pow, 1.3},
                                   {Op::Atan2, 2.3},
                                   {Op::Round, 0.0},
                                   {Op::Floor, 0.0},
                                   {Op::Sign, 0.0},
                                   {Op::Min, 0.0},
                                   {Op::Less, 0.0},
                                   {Op::And, 0.0},
                                   {Op::Relu, 0.0},
                                   {Op::Div, 0.5001},
                                   {Op::Sub, 0.5001}}) {
      std::vector<double> y(a.size());
      const bool one = scalar::info(op).arity == 1;
      std::vector<std::uint64_t> arguments = {pointer_to(a.data()), pointer_to(b.data()),
                                              pointer_to(y.data())};
      if (one) arguments.erase(arguments.begin() + 1);
      NativeKernel(double_function_of(op), {target::Target::Kind::X86_64, level})
          .run(static_cast<int>(a.size()) / kDoubleLanes, arguments);
      double worst = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        std::vector<Long> x = {static_cast<Long>(a[i])};
        if (!one) x.push_back(static_cast<Long>(b[i]));
        worst = std::max(worst, ulps_off(op, x, y[i]));
        ASSERT_FALSE(HasFailure());
      }
      std::printf("%s, level %d: %.3g ulp\n", std::string(scalar::info(op).name).c_str(), level, worst);
      EXPECT_LE(worst, ulps) << scalar::info(op).name << ", level " << level;
    }
}

// A product and a sum rounded once, also where the machine has no instruction for it.
TEST(DoubleFunctionsOfTwo, RoundAProductAndASumOnce) {
  const std::vector<double> all = numbers(5);
  std::vector<double> a, b, c;
  for (std::size_t i = 32; i + 3 < all.size(); i += 3)
    if (std::abs(all[i]) < 0x1p400 && std::abs(all[i]) > 0x1p-400 && std::abs(all[i + 1]) < 0x1p400 &&
        std::abs(all[i + 1]) > 0x1p-400)
      a.push_back(all[i]), b.push_back(all[i + 1]),
          c.push_back(i % 2 == 0 ? -all[i] * all[i + 1] : all[i + 2]);
  a.resize(a.size() / kDoubleLanes * kDoubleLanes);
  for (int level = 2; level <= highest_vector_level(); ++level) {
    std::vector<double> y(a.size());
    NativeKernel(double_function_of(Op::Fma), {target::Target::Kind::X86_64, level})
        .run(static_cast<int>(a.size()) / kDoubleLanes,
             {pointer_to(a.data()), pointer_to(b.data()), pointer_to(c.data()), pointer_to(y.data())});
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double exact = std::fma(a[i], b[i], c[i]);
      if (std::isnan(exact) || std::isinf(exact)) continue;
      EXPECT_LE(std::abs(y[i] - exact), level >= 3 ? 0 : std::abs(exact) * 0x1p-52)
          << a[i] << " * " << b[i] << " + " << c[i] << ", level " << level;
    }
  }
}

}  // namespace
}  // namespace rondo::backend
#endif
