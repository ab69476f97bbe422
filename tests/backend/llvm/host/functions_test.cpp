// Every function as code of this machine over all numbers of bf16 and fp16, and over those of fp32: a part in
// a short run, more in a long one, and all 2^32 with RONDO_ALL_FLOATS=1, for the machine's highest level
// (five minutes a function). None errs by more than the table of docs/numerics.md says.
#ifdef RONDO_BUILT_LLVM
#include <fmt/format.h>

#include <cstdio>

#include "compiler/kernel/builder/builder.h"
#include "tests/backend/llvm/functions.h"
#include "tests/backend/llvm/host/run_kernel.h"
#include "tests/support/turns.h"

namespace rondo::backend {
namespace {

using scalar::Op;

constexpr int kLanes = 16;

kernel::Kernel function_of(Op op, kernel::Math math) {
  kernel::Builder b("function", kLanes, math);
  const auto x = b.input("x", kernel::Storage::F32), y = b.output("y", kernel::Storage::F32);
  const kernel::Value i = b.let("i", b.block() * kLanes + b.thread());
  b.store(y[i], b.math(op, {b.load("v", x[i])}));
  return b.finish();
}

// How many numbers of fp32 lie between two that are tried.
std::uint64_t step_of_run() {
  if (testing::all_floats()) return 1;
  return rondo::testing::all_cases() ? 1021 : 65'521;
}

// A function as code of one level with one kind of math. 2^x is 0 below 2^-126, which fast functions rest on.
struct Variant {
  Variant(Op op, kernel::Math of_math, int of_level)
      : math(of_math),
        level(of_level),
        native(function_of(op, math), {target::Target::Kind::X86_64, level}),
        comparison(op, math == kernel::Math::Fast, math == kernel::Math::Fast) {}

  kernel::Math math;
  int level;
  NativeKernel native;
  testing::Comparison comparison;
  testing::Worst worst;
};

void try_all(std::vector<Variant>& variants, const std::vector<float>& numbers, Op op) {
  const std::vector<double> exact = testing::exact_results(op, numbers);
  std::vector<float> results(numbers.size());
  for (Variant& variant : variants) {
    variant.native.run(static_cast<int>(numbers.size()) / kLanes,
                       {pointer_to(numbers.data()), pointer_to(results.data())});
    for (std::size_t i = 0; i < numbers.size(); ++i)
      variant.comparison.compare(numbers[i], exact[i], results[i], variant.worst);
  }
}

class HostFunctions : public ::testing::TestWithParam<Op> {};

TEST_P(HostFunctions, KeepTheirBoundsOverAllNumbers) {
  const Op op = GetParam();
  std::vector<Variant> variants;
  const int highest = highest_vector_level();
  for (int level = testing::all_floats() ? highest : 2; level <= highest; ++level)
    for (const kernel::Math math : {kernel::Math::Accurate, kernel::Math::Fast})
      variants.emplace_back(op, math, level);
  for (const kernel::Storage storage : {kernel::Storage::BF16, kernel::Storage::F16})
    try_all(variants, testing::all_numbers(storage), op);
  const std::uint64_t step = step_of_run();
  for (std::uint64_t first = rondo::testing::turns_of_run().moved_by % step; first >> 32 == 0;)
    try_all(variants, testing::some_numbers(first, step), op);
  for (const Variant& variant : variants) {
    const bool fast = variant.math == kernel::Math::Fast;
    testing::expect_documented(variant.worst, op, fast,
                               fast ? testing::Column::CpuFast : testing::Column::CpuAccurate,
                               std::string(scalar::info(op).name) + ", " + kernel::math_name(variant.math) +
                                   " math, level " + std::to_string(variant.level));
  }
}

INSTANTIATE_TEST_SUITE_P(All, HostFunctions, ::testing::ValuesIn(testing::kFunctions),
                         [](const auto& test) { return std::string(scalar::info(test.param).name); });

// Functions of two numbers, and those to whole ones, which are exact.
TEST(HostFunctionsOfTwo, KeepTheirBounds) {
  std::vector<float> a, b;
  testing::for_each_pair(30'000, [&](float x, float y) { a.push_back(x), b.push_back(y); });
  a.resize(a.size() / kLanes * kLanes);
  for (int level = 2; level <= highest_vector_level(); ++level)
    for (const auto& [op, ulps] :
         {std::pair{Op::Pow, 1.1}, {Op::Atan2, 1.6}, {Op::Round, 0.0}, {Op::Floor, 0.0}}) {
      kernel::Builder builder("function", kLanes, kernel::Math::Accurate);
      const auto x = builder.input("x", kernel::Storage::F32), y = builder.input("y", kernel::Storage::F32);
      const auto z = builder.output("z", kernel::Storage::F32);
      const kernel::Value i = builder.let("i", builder.block() * kLanes + builder.thread());
      std::vector<kernel::Value> arguments = {builder.load("a", x[i]), builder.load("b", y[i])};
      const auto count = static_cast<std::size_t>(scalar::info(op).arity);
      arguments.resize(count);
      builder.store(z[i], builder.math(op, arguments));
      std::vector<float> results(a.size());
      NativeKernel(builder.finish(), {target::Target::Kind::X86_64, level})
          .run(static_cast<int>(a.size()) / kLanes,
               {pointer_to(a.data()), pointer_to(b.data()), pointer_to(results.data())});
      double worst = 0;
      for (std::size_t k = 0; k < a.size(); ++k) {
        const std::array<double, 2> values{a[k], b[k]};
        const double exact = scalar::evaluate(op, std::span(values).first(count));
        testing::expect_right(results[k], exact, fmt::format("{}({}, {})", scalar::info(op).name, a[k], b[k]),
                              worst);
        ASSERT_FALSE(HasFailure());
      }
      std::printf("%s, level %d: %.3g ulp\n", std::string(scalar::info(op).name).c_str(), level, worst);
      EXPECT_LE(worst, ulps) << scalar::info(op).name << ", level " << level;
    }
}

// Far from zero what goes to zero is zero: a product with a number that is almost none is not.
TEST(HostFunctionsFarOut, GoToZero) {
  for (int level = 2; level <= highest_vector_level(); ++level)
    for (const kernel::Math math : {kernel::Math::Accurate, kernel::Math::Fast})
      for (const Op op : {Op::Exp, Op::Sigmoid, Op::Silu, Op::Gelu, Op::Softplus}) {
        std::vector<float> in(kLanes, -3e38f), out(kLanes, 1);
        in[1] = -200;
        in[2] = -1e4f;
        NativeKernel(function_of(op, math), {target::Target::Kind::X86_64, level})
            .run(1, {pointer_to(in.data()), pointer_to(out.data())});
        for (const float value : out) EXPECT_EQ(value, 0) << scalar::info(op).name << ", level " << level;
      }
}

}  // namespace
}  // namespace rondo::backend
#endif
