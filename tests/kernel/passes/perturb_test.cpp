// Kernels whose functions err: well formed as before, off by as much as a correct function may be, and no
// more.
#include "compiler/kernel/passes/perturb.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/verify/verify.h"
#include "compiler/scalar/roundoff.h"
#include "tests/kernel/harness.h"
#include "tests/kernel/random_kernel.h"

namespace rondo::kernel::test {
namespace {

using scalar::Op;

constexpr int kThreads = 64;

// y[thread] = op(x[thread]), of a quotient op(1, x[thread]).
Kernel function_of_each(Op op) {
  Builder b("function", kThreads);
  const Memory x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  const Value argument = b.load("argument", x[b.thread()]);
  std::vector<Value> args = {argument};
  if (scalar::info(op).arity == 2) args.insert(args.begin(), b.real(1));
  b.store(y[b.thread()], b.math(op, args));
  return b.finish();
}

std::vector<double> values_of(const Kernel& kernel, const std::vector<double>& arguments) {
  std::vector<GlobalBuffer> buffers = {input_buffer(Storage::F32, arguments),
                                       output_buffer(Storage::F32, kThreads)};
  expect_clean(run(kernel, 1, buffers));
  return {buffers[1].values.begin(), buffers[1].values.end()};
}

std::vector<double> from_a_quarter_to_four() {
  std::vector<double> arguments;
  for (int i = 0; i < kThreads; ++i)
    arguments.push_back(static_cast<double>(static_cast<float>(0.25 + 3.75 * i / kThreads)));
  return arguments;
}

std::vector<Op> erring_functions() {
  std::vector<Op> ops;
  for (int i = 0; i < static_cast<int>(scalar::kKernelOpCount); ++i) {
    const auto op = static_cast<Op>(i);
    if (scalar::info(op).fast.special > 0 && !scalar::roundoff(op, true).exact()) ops.push_back(op);
  }
  return ops;
}

TEST(ErringFunctions, AreOffByTheirRoundoffAndNoMore) {
  const std::vector<double> arguments = from_a_quarter_to_four();
  ASSERT_GE(erring_functions().size(), 8u);
  for (const Op op : erring_functions())
    for (const bool fast : {false, true}) {
      const std::string what = fmt::format("{} {}", scalar::info(op).name, fast ? "fast" : "accurate");
      const Kernel kernel = function_of_each(op);
      const std::vector<double> right = values_of(kernel, arguments);
      const std::vector<double> erring = values_of(with_erring_functions(kernel, fast), arguments);
      const scalar::Roundoff off = scalar::roundoff(op, fast);
      double most = 0;  // error in units of its bound
      for (std::size_t i = 0; i < right.size(); ++i) {
        const double size = std::abs(right[i]);
        const double bound = off.value * size + off.absolute + 4 * (off.operand + off.scaled * size);
        const double rounded = 0x1p-23 * size;  // by the kernel that errs
        EXPECT_LE(std::abs(erring[i] - right[i]), bound + rounded) << what << " of " << arguments[i];
        most = std::max(most, std::abs(erring[i] - right[i]) / bound);
      }
      EXPECT_GE(most, 0.25) << what << ": hardly an error";
    }
}

// Numbers side by side err up and down; the same number errs alike.
TEST(ErringFunctions, ErrorsFollowTheLastBitsOfTheArgument) {
  std::vector<double> arguments;
  for (float x = 0.7F; arguments.size() < kThreads; x = std::nextafter(x, 1.0F))
    arguments.insert(arguments.end(), 2, static_cast<double>(x));
  const Kernel kernel = function_of_each(Op::Tanh);
  const std::vector<double> right = values_of(kernel, arguments);
  const std::vector<double> erring = values_of(with_erring_functions(kernel, true), arguments);
  int up = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    up += erring[i] > right[i];
    EXPECT_EQ(erring[i], erring[i - i % 2]);
  }
  EXPECT_GT(up, kThreads / 4);
  EXPECT_LT(up, kThreads * 3 / 4);
}

TEST(ErringFunctions, ArithmeticStays) {
  Builder b("arithmetic", 32);
  const Memory x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  const Value v = b.load("v", x[b.thread() * b.named("ROWS", 4)]);
  b.store(y[b.thread()], b.math(Op::Max, {v * v + b.real(1), b.math(Op::Relu, {v})}));
  const Kernel kernel = b.finish();
  EXPECT_EQ(print(with_erring_functions(kernel, true)), print(kernel));
}

TEST(ErringFunctions, KernelsStayWellFormed) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const Kernel kernel = RandomKernel(seed).build();
    const Kernel erring = with_erring_functions(kernel, seed % 2 == 0);
    ASSERT_TRUE(verify(erring).empty()) << "seed " << seed << ": " << verify(erring).front();
    EXPECT_EQ(erring.named_uses.size(), kernel.named_uses.size()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rondo::kernel::test
