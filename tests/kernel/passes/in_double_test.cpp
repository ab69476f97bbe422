// Kernels in fp64: what the pass makes of each part of a kernel, and what the simulator and the verifier say
// of it.
#include "compiler/kernel/passes/in_double.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/kernel/builder/builder.h"
#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/passes/simplify.h"
#include "compiler/kernel/simulator/simulate.h"
#include "compiler/kernel/verify/verify.h"

namespace rondo::kernel {
namespace {

using scalar::Op;

// y = x * third + shared - the place, by one block of 32 threads.
Builder written() {
  Builder b("numbers", 32, Math::Accurate, "numbers, fp32 in memory");
  const Memory x = b.input("x", Storage::F32), y = b.output("y", Storage::F32),
               n = b.input("n", Storage::I32);
  const Memory own = b.shared("own", Storage::F32, 32);
  const Value at = b.let("at", b.thread());
  b.store(own[at], b.to_real(b.load("count", n[at])));
  b.barrier();
  const Value third = b.math(Op::Div, {b.real(1), b.real(3)});
  const Value product = b.math(Op::Mul, {b.load("v", x[at]), third});
  b.store(y[at], b.math(Op::Sub, {b.math(Op::Add, {product, b.load("mine", own[at])}), b.real(0.1)}));
  return b;
}

std::vector<double> run(const Kernel& kernel) {
  std::vector<double> x;
  for (int i = 0; i < 32; ++i) x.push_back(std::sqrt(2.0 + i));
  std::vector<GlobalBuffer> buffers = {input_buffer(kernel.params[0].storage, x),
                                       output_buffer(kernel.params[1].storage, 32),
                                       input_buffer(Storage::I32, std::vector<double>(32, 7))};
  const SimulationResult result = simulate(kernel, 1, {{0}, {1}, {2}}, buffers);
  EXPECT_TRUE(result.faults.empty()) << result.faults.front().message;
  if (!is_in_double(kernel)) return {buffers[1].values.begin(), buffers[1].values.end()};
  return buffers[1].doubles;
}

double worst_error(const std::vector<double>& y) {
  double worst = 0;
  for (int i = 0; i < 32; ++i)
    worst = std::max(worst,
                     std::abs(y[static_cast<std::size_t>(i)] - (std::sqrt(2.0 + i) * (1.0 / 3) + 7 - 0.1)));
  return worst;
}

TEST(InDouble, EveryRealNumberIsADouble) {
  const Kernel narrow = written().finish(), wide = in_double(narrow);
  EXPECT_FALSE(is_in_double(narrow));
  EXPECT_TRUE(is_in_double(wide));
  EXPECT_EQ(verify(wide), std::vector<std::string>{});
  const std::string text = print(wide);
  EXPECT_EQ(text.find("f32"), std::string::npos) << text;
  EXPECT_EQ(text.find("fp32"), std::string::npos) << text;
  EXPECT_NE(text.find("input n: int32"), std::string::npos) << text;
  EXPECT_EQ(shared_bytes(wide), 2 * shared_bytes(narrow));
}

// Constants, too: those of a kernel that is simplified afterwards are folded in double.
TEST(InDouble, ItComputesInDouble) {
  EXPECT_GT(worst_error(run(written().finish())), 1e-8);
  EXPECT_LT(worst_error(run(simplify(in_double(written().kernel())))), 4e-15);
}

TEST(InDouble, TheLeastNumberStandsForMinusInfinity) {
  Builder b("least", 32, Math::Accurate);
  const Memory y = b.output("y", Storage::F32);
  const double least = std::numeric_limits<float>::lowest();
  b.store(y[b.thread()], b.real(least));
  const Kernel wide = in_double(b.finish());
  std::vector<GlobalBuffer> buffers = {output_buffer(Storage::F64, 32)};
  simulate(wide, 1, {{0}}, buffers);
  EXPECT_EQ(buffers[0].doubles[5], std::numeric_limits<double>::lowest());
}

TEST(InDouble, WhatHasAMeaningInFp32AloneIsRefused) {
  Builder halves("halves", 32, Math::Accurate);
  const Memory x = halves.input("x", Storage::BF16), y = halves.output("y", Storage::F32);
  halves.store(y[halves.thread()], halves.load("v", x[halves.thread()]));
  EXPECT_THROW(in_double(halves.finish()), std::logic_error);
  Builder rounded("rounded", 32, Math::Accurate);
  const Memory out = rounded.output("y", Storage::F32);
  rounded.store(out[rounded.thread()], rounded.round_tf32(rounded.real(1)));
  EXPECT_THROW(in_double(rounded.finish()), std::logic_error);
}

TEST(InDouble, TheVerifierFindsWhatIsLeftInFp32) {
  Kernel kernel = in_double(written().finish());
  kernel.shared[0].storage = Storage::F32;
  const std::vector<std::string> findings = verify(kernel);
  ASSERT_FALSE(findings.empty());
  EXPECT_NE(findings.back().find("own is no double in a kernel in fp64"), std::string::npos)
      << findings.back();
}

}  // namespace
}  // namespace rondo::kernel
