// Kernels as code of this machine: masks, loops, places and roundings of all lanes, beside the simulator.
#ifdef RONDO_BUILT_LLVM
#include <fmt/format.h>
#include <array>
#include <bit>
#include <cmath>
#include <random>

#include "compiler/kernel/builder/builder.h"
#include "compiler/kernel/simulator/simulate.h"
#include "compiler/scalar/roundoff.h"
#include "compiler/support/index.h"
#include "tests/backend/llvm/host/run_kernel.h"

namespace rondo::backend {
namespace {

using kernel::Builder;
using kernel::Storage;
using kernel::Type;
using kernel::Value;
using scalar::Op;

constexpr int kLeastLevel = 2;  // x86-64-v2: has no fma

// Branches within branches, a loop that begins at the lane, values that some lanes keep, and shared memory.
kernel::Kernel masks() {
  Builder b("masks", 16, kernel::Math::Accurate);
  const auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  const Value n = b.argument("n", Type::I32);
  const auto shared = b.shared("tile", Storage::F32, 16);
  const Value i = b.let("i", b.block() * 16 + b.thread());
  const Value sum = b.variable("sum", b.real(0.5));
  const Value kept = b.variable("kept", b.real(3));
  b.if_(i < n, [&] {
    const Value v = b.load("v", x[i]);
    b.store(shared[b.thread()], v);
    b.if_(
        b.constant(0) < b.thread() % 3, [&] { b.assign(kept, v * b.real(2)); },
        [&] { b.if_(b.thread() == 6, [&] { b.assign(kept, b.real(-1)); }); });
    b.for_("k", b.thread(), n, b.constant(5), 1, [&](Value k) { b.assign(sum, sum + b.load("w", x[k])); });
  });
  b.barrier();
  b.if_(i < n, [&] {
    const Value other = b.load("other", shared[b.thread() / 2]);
    b.store(y[i * 2], sum + other);
    b.store(y[i * 2 + 1], kept);
  });
  return b.finish();
}

TEST(HostLanes, MasksAndLoopsAreThoseOfTheSimulator) {
  const kernel::Kernel made = masks();
  constexpr int kCount = 37;  // the last of three blocks has five lanes
  std::vector<float> x(kCount), y(2 * kCount, 0);
  std::mt19937 random(7);
  for (float& value : x) value = std::uniform_real_distribution<float>(-2, 2)(random);
  NativeKernel(made).run(3, {pointer_to(x.data()), pointer_to(y.data()), kCount});

  kernel::GlobalBuffer in = kernel::output_buffer(Storage::F32, kCount);
  in.values = x;
  in.written.assign(kCount, true);
  std::vector<kernel::GlobalBuffer> buffers{in, kernel::output_buffer(Storage::F32, 2 * kCount)};
  std::vector<kernel::Argument> arguments(3);
  arguments[0].buffer = 0, arguments[1].buffer = 1, arguments[2].integer = kCount;
  const auto ran = kernel::simulate(made, 3, arguments, buffers, {});
  ASSERT_TRUE(ran.faults.empty()) << ran.faults[0].message;
  for (int i = 0; i < 2 * kCount; ++i) EXPECT_FLOAT_EQ(y[at(i)], buffers[1].values[at(i)]) << i;
}

// 16-bit numbers, through memory and back.
void expect_nearest_even(Storage storage, const target::Target& target) {
  Builder b("round", 8);
  const auto x = b.input("x", Storage::F32), y = b.output("y", storage);
  const auto z = b.output("z", Storage::F32), again = b.input("again", storage);
  const Value i = b.let("i", b.block() * 8 + b.thread());
  b.store(y[i], b.load("v", x[i]));
  b.store(z[i], b.load("w", again[i]));
  const kernel::Kernel made = b.finish();
  std::vector<float> numbers;
  std::mt19937 random(3);
  for (int k = 0; k < 4096; ++k)
    numbers.push_back(std::uniform_real_distribution<float>(-1, 1)(random) *
                      std::exp2(std::uniform_real_distribution<float>(-30, 20)(random)));
  // Halfway between two numbers of either format, of which the lower is even or odd, and beside halfway.
  for (int k = 0; k < 256; ++k)
    for (const auto& [dropped, half] : {std::pair{16, 0x8000U}, {13, 0x1000U}})
      for (const std::uint32_t low : {half - 1, half, half + 1})
        numbers.push_back(
            std::bit_cast<float>(std::bit_cast<std::uint32_t>(numbers[at(k)]) >> dropped << dropped | low));
  for (const float special : {0.0f, -0.0f, 1e-40f, INFINITY, -INFINITY, 65519.0f, 65520.0f, NAN})
    numbers.push_back(special);
  const int count = static_cast<int>(numbers.size());
  std::vector<std::uint16_t> bits(numbers.size());
  std::vector<float> back(numbers.size());
  const std::vector<std::uint64_t> arguments = {pointer_to(numbers.data()), pointer_to(bits.data()),
                                                pointer_to(back.data()), pointer_to(bits.data())};
  NativeKernel native(made, target);
  native.run(count / 8, arguments);
  native.run(count / 8, arguments);  // reads what the first run wrote
  for (int k = 0; k < count; ++k) {
    const float expected = scalar::round_to(storage, numbers[at(k)]);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(back[at(k)]));
    else
      EXPECT_EQ(back[at(k)], expected) << numbers[at(k)] << " as " << kernel::storage_name(storage);
  }
}

// As code of each level that this machine runs: those before x86-64-v3 have no instruction that converts
// fp16.
TEST(HostLanes, StorageRoundsToNearestEven) {
  for (int level = kLeastLevel; level <= highest_vector_level(); ++level)
    for (const Storage storage : {Storage::BF16, Storage::F16})
      expect_nearest_even(storage, {target::Target::Kind::X86_64, level});
}

TEST(HostLanes, EveryTargetIsCompiledFor) {
  const kernel::Kernel made = masks();
  for (const char* name : {"aarch64", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const target::Target target = *target::find_target(name);
    const Source source = llvm_backend().lower({&made}, target);
    const auto compiled =
        llvm_backend().compile({"llvm", source.text, "masks", target, llvm_backend().flags()});
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    EXPECT_EQ(compiled->image.kind, executable::ImageKind::Object);
    EXPECT_EQ(compiled->image.target, name);
    ASSERT_EQ(compiled->image.resources.size(), 1u);
    EXPECT_EQ(compiled->image.resources[0].name, "masks");
  }
}

double ulps(float value, double exact) {
  const float near = static_cast<float>(exact);
  if (std::isnan(exact)) return std::isnan(value) ? 0 : 1e9;
  if (std::isinf(near) || std::isinf(value)) return near == value ? 0 : 1e9;
  const double unit =
      std::max(std::ldexp(1.0, std::ilogb(near == 0 ? 1e-38f : near) - 23), std::ldexp(1.0, -149));
  return std::abs(static_cast<double>(value) - exact) / unit;
}

struct MathCase {
  Op op;
  double low, high, bound;  // ulp
};

// A kernel of one function of its input.
kernel::Kernel function_kernel(Op op, kernel::Math math) {
  Builder b("function", 16, math);
  const auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  const Value i = b.let("i", b.block() * 16 + b.thread());
  b.store(y[i], b.math(op, {b.load("v", x[i])}));
  return b.finish();
}

// Each function over a grid of its domain, beside fp64, as code of each level that this machine runs: their
// reciprocals differ. The scalar forms of GPUs have bounds of their own (nvptx/math_test.cpp).
TEST(HostLanes, FunctionsKeepTheirBounds) {
  const MathCase cases[] = {
      {Op::Exp, -87, 88, 2},        {Op::Expm1, -87, 88, 2},     {Op::Log, 1e-37, 1e30, 2},
      {Op::Log1p, -0.999, 1e30, 2}, {Op::Sigmoid, -80, 80, 4},   {Op::Tanh, -20, 20, 4},
      {Op::Silu, -80, 80, 5},       {Op::Softplus, -80, 80, 4},  {Op::Erf, -5, 5, 2},
      {Op::Sin, -1e6, 1e6, 2},      {Op::Cos, -1e6, 1e6, 2},     {Op::Sqrt, 0, 1e30, 1},
      {Op::Rsqrt, 1e-30, 1e30, 2},  {Op::Recip, 1e-30, 1e30, 1}, {Op::Gelu, -3, 8, 12},
  };
  constexpr int kCount = 1 << 16;
  for (const MathCase& of : cases) {
    const kernel::Kernel made = function_kernel(of.op, kernel::Math::Accurate);
    std::vector<float> in(kCount), out(kCount);
    const bool wide = of.low > 0 && of.high / of.low > 1e10;  // a grid of exponents
    for (int k = 0; k < kCount; ++k) {
      const double part = (k + 0.37) / kCount;
      in[at(k)] = static_cast<float>(wide ? of.low * std::pow(of.high / of.low, part)
                                          : of.low + (of.high - of.low) * part);
    }
    for (int level = kLeastLevel; level <= highest_vector_level(); ++level) {
      NativeKernel(made, {target::Target::Kind::X86_64, level})
          .run(kCount / 16, {pointer_to(in.data()), pointer_to(out.data())});
      double worst = 0;
      float where = 0;
      for (int k = 0; k < kCount; ++k) {
        const double exact = scalar::evaluate(of.op, std::array{static_cast<double>(in[at(k)])});
        const double error = ulps(out[at(k)], exact);
        if (error > worst) worst = error, where = in[at(k)];
      }
      EXPECT_LE(worst, of.bound) << scalar::info(of.op).name << " at " << where << ", level " << level;
    }
  }
}

// With fast math the functions that are shorter then err as far as verification lets those of a GPU err
// (scalar/roundoff.h), and more than accurate ones.
TEST(HostLanes, FastFunctionsErrAsThoseOfAGpuMay) {
  constexpr int kCount = 1 << 16;
  std::vector<float> in(kCount), out(kCount), accurate(kCount);
  for (int k = 0; k < kCount; ++k) in[at(k)] = static_cast<float>(-30 + 60 * (k + 0.37) / kCount);
  for (const Op op : {Op::Exp, Op::Sigmoid, Op::Tanh, Op::Silu})
    for (int level = kLeastLevel; level <= highest_vector_level(); ++level) {
      NativeKernel(function_kernel(op, kernel::Math::Fast), {target::Target::Kind::X86_64, level})
          .run(kCount / 16, {pointer_to(in.data()), pointer_to(out.data())});
      NativeKernel(function_kernel(op, kernel::Math::Accurate), {target::Target::Kind::X86_64, level})
          .run(kCount / 16, {pointer_to(in.data()), pointer_to(accurate.data())});
      const scalar::Roundoff off = scalar::roundoff(op, true);
      double worst = 0;
      int others = 0;
      for (int k = 0; k < kCount; ++k) {
        const double x = in[at(k)], exact = scalar::evaluate(op, std::array{x});
        const double allowed = std::abs(exact) * (off.value + off.scaled * std::abs(x)) +
                               off.operand * std::abs(x) + off.absolute;
        worst = std::max(worst, std::abs(out[at(k)] - exact) / allowed);
        others += out[at(k)] != accurate[at(k)] ? 1 : 0;
      }
      EXPECT_LE(worst, 1) << scalar::info(op).name << ", level " << level;
      EXPECT_GT(others, kCount / 20) << scalar::info(op).name << " is the accurate one";
      RecordProperty(std::string(scalar::info(op).name) + std::to_string(level), std::to_string(worst));
    }
}

// The functions that are held within bounds end there in the right way, as code of each level.
void expect_ends(Op op, kernel::Math math, int level) {
  const float ends[] = {-INFINITY, -1e30f, -200, -90, -0.0f, 0, 1e-30f, 90, 200, 1e30f, INFINITY, NAN};
  std::array<float, 16> in{}, out{};
  std::copy(std::begin(ends), std::end(ends), in.begin());
  NativeKernel(function_kernel(op, math), {target::Target::Kind::X86_64, level})
      .run(1, {pointer_to(in.data()), pointer_to(out.data())});
  for (std::size_t i = 0; i < std::size(ends); ++i) {
    const double exact = scalar::evaluate(op, std::array{static_cast<double>(in[i])});
    const std::string at = fmt::format("{} of {}, {} math, level {}", scalar::info(op).name, in[i],
                                       kernel::math_name(math), level);
    if (std::isnan(exact))
      EXPECT_TRUE(std::isnan(out[i])) << at;
    else
      EXPECT_NEAR(out[i], exact, math == kernel::Math::Fast ? 2e-6 : 2e-38 + 4e-7 * std::abs(exact)) << at;
    if (op == Op::Tanh && (in[i] == 0 || std::abs(in[i]) > 100)) {
      EXPECT_EQ(out[i], exact) << at;
    }
  }
}

TEST(HostLanes, FunctionsAtTheirEnds) {
  for (int level = kLeastLevel; level <= highest_vector_level(); ++level)
    for (const Op op : {Op::Sigmoid, Op::Tanh})
      for (const kernel::Math math : {kernel::Math::Accurate, kernel::Math::Fast})
        expect_ends(op, math, level);
}

}  // namespace
}  // namespace rondo::backend
#endif
