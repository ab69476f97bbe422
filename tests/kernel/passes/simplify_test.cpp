// The simplifier: what it folds, what it must leave, and that random kernels compute the same bits
// afterwards.
#include "compiler/kernel/passes/simplify.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/verify/verify.h"
#include "tests/kernel/harness.h"
#include "tests/kernel/random_kernel.h"

namespace rondo::kernel::test {
namespace {

// The body of the simplified kernel as text, from its first statement on.
std::string simplified(const std::function<void(Builder&)>& build) {
  Builder b("k", 32);
  build(b);
  const Kernel kernel = simplify(raw(b));
  EXPECT_TRUE(verify(kernel).empty()) << verify(kernel).front();
  std::string out;
  for (const Stmt& stmt : kernel.body) out += print(kernel, stmt) + "\n";
  return out;
}

TEST(Simplify, IntegerIdentitiesAndConstants) {
  EXPECT_EQ(simplified([](Builder& b) {
              auto y = b.output("y", Storage::I32);
              const Value t = b.thread();
              b.store(y[t * 1 + 0], (t / 1 - 0) + b.constant(2) * 3);
              b.store(y[t % 1], b.constant(7) % 4);
              b.store(y[t * 0 + t], b.select(b.constant(1) < 2, t, t + 1));
            }),
            "store y[thread] = thread + 6\nstore y[0] = 3\nstore y[thread] = thread\n");
}

TEST(Simplify, FloatsOnlyWhereEveryBitStays) {
  EXPECT_EQ(simplified([](Builder& b) {
              auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
              const Value v = b.load("v", x[b.thread()]);
              b.store(y[b.constant(0)], v * b.real(1));
              b.store(y[b.constant(1)], v / b.real(1));
              b.store(y[b.constant(2)], v + b.real(0));  // -0 + 0 is 0
              b.store(y[b.constant(3)], v - b.real(0));
              b.store(y[b.constant(4)], v * b.real(0));  // NaN
              b.store(y[b.constant(5)], b.real(1.5) * b.real(3) + b.real(2));
              b.store(y[b.constant(6)], b.real(1) / b.real(0));  // no literal for infinity
              b.store(y[b.constant(7)], v + b.real(-0.0));
            }),
            "v: f32 = load x[thread]\nstore y[0] = v\nstore y[1] = v\nstore y[2] = v + 0.0\nstore y[3] = v\n"
            "store y[4] = v * 0.0\nstore y[5] = 6.5\nstore y[6] = 1.0 / 0.0\nstore y[7] = v\n");
}

TEST(Simplify, DecidedControlFlowAndDeadLets) {
  EXPECT_EQ(simplified([](Builder& b) {
              auto y = b.output("y", Storage::I32);
              auto two = b.let("two", b.constant(2));
              auto unused = b.let("unused", b.thread() * 5);
              b.let("unused_too", unused + 1);
              b.if_(
                  two == 2, [&] { b.store(y[b.thread()], two); },
                  [&] { b.store(y[b.thread()], b.constant(9)); });
              b.for_("never", 3, 3, 1, [&](Value i) { b.store(y[i], i); });
              b.for_("once", 3, 4, 1, [&](Value i) { b.store(y[i], i + 1); });
              b.for_("empty", 0, 9, 1, [&](Value i) { b.let("dead", i); });
              b.if_(b.thread() < 4, [&] { b.comment("nothing here"); });
              b.if_(
                  b.thread() < 5, [] {}, [&] { b.store(y[b.thread()], b.constant(1)); });
            }),
            "store y[thread] = 2\nstore y[3] = 4\nif thread >= 5\n");
}

TEST(Simplify, NamedConstantsKeepTheirNames) {
  EXPECT_EQ(simplified([](Builder& b) {
              auto y = b.output("y", Storage::I32);
              const Value rows = b.named("ROWS", 4), one = b.named("ONE", 1);
              b.store(y[b.thread() * rows], rows * 2);
              b.store(y[b.thread() * one], b.thread());
              b.if_(rows * 2 == 8, [&] { b.store(y[b.thread()], rows); });
            }),
            "store y[thread * ROWS] = ROWS * 2\nstore y[thread] = thread\nstore y[thread] = ROWS\n");
  Builder b("k", 32);
  b.named("UNUSED", 5);
  EXPECT_TRUE(simplify(raw(b)).named.empty());
}

TEST(Simplify, LogicWithAKnownSide) {
  EXPECT_EQ(simplified([](Builder& b) {
              auto y = b.output("y", Storage::I32);
              const Value yes = b.constant(1) == 1, no = b.constant(1) == 2, open = b.thread() < 4;
              b.if_(open && yes, [&] { b.store(y[b.thread()], b.constant(1)); });
              b.if_(no || open, [&] { b.store(y[b.thread()], b.constant(2)); });
              b.if_(open && no, [&] { b.store(y[b.thread()], b.constant(3)); });
            }),
            "if thread < 4\nif thread < 4\n");
}

struct Comparison {
  Compare op;
  const char *text, *opposite;
  bool (*holds)(double, double);
};
constexpr Comparison kComparisons[] = {
    {Compare::Less, "<", ">=", [](double a, double b) { return a < b; }},
    {Compare::LessEqual, "<=", ">", [](double a, double b) { return a <= b; }},
    {Compare::Greater, ">", "<=", [](double a, double b) { return a > b; }},
    {Compare::GreaterEqual, ">=", "<", [](double a, double b) { return a >= b; }},
    {Compare::Equal, "==", "!=", [](double a, double b) { return a == b; }},
    {Compare::NotEqual, "!=", "==", [](double a, double b) { return a != b; }}};

// not (a op c), of which the builder has no word.
Value negated(Builder& b, Compare op, Value a, Value c) {
  const ExprId compared = b.add({Type::Pred, CompareExpr{op, a.id(), c.id()}});
  return {&b, b.add({Type::Pred, LogicExpr{Logic::Not, compared, -1}})};
}

// A comparison of integers turns into its opposite; one of floats has none, because of NaN.
TEST(Simplify, NegatedComparisons) {
  for (const Comparison& c : kComparisons) {
    EXPECT_EQ(simplified([&](Builder& b) {
                auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
                const Value t = b.thread(), v = b.load("v", x[t]);
                b.if_(negated(b, c.op, t, b.constant(5)), [&] { b.store(y[t], v); });
                b.if_(negated(b, c.op, v, b.real(5)), [&] { b.store(y[t], b.real(1)); });
              }),
              fmt::format("v: f32 = load x[thread]\nif thread {} 5\nif !(v {} 5.0)\n", c.opposite, c.text));
  }
}

// What that means: an integer is on one side of another, and a NaN on none.
TEST(Simplify, NegatedComparisonsKeepTheirValues) {
  std::vector<double> values(32);
  for (int i = 0; i < 32; ++i) values[static_cast<std::size_t>(i)] = i == 7 ? std::nan("") : i;
  for (const Comparison& c : kComparisons) {
    Builder b("k", 32);
    auto x = b.input("x", Storage::F32), y = b.output("y", Storage::I32);
    const Value t = b.thread(), v = b.load("v", x[t]), one = b.constant(1), zero = b.constant(0);
    b.store(y[t], b.select(negated(b, c.op, t, b.constant(5)), one, zero));
    b.store(y[t + 32], b.select(negated(b, c.op, v, b.real(5)), one, zero));
    std::vector<GlobalBuffer> buffers{input_buffer(Storage::F32, values), output_buffer(Storage::I32, 64)};
    expect_clean(run(b.finish(), 1, buffers));
    for (std::size_t i = 0; i < 32; ++i) {
      EXPECT_EQ(buffers[1].integers[i], c.holds(static_cast<double>(i), 5) ? 0 : 1) << i << " " << c.text;
      EXPECT_EQ(buffers[1].integers[i + 32], c.holds(values[i], 5) ? 0 : 1) << values[i] << " " << c.text;
    }
  }
}

// What others see, and what is written through an array, stays; the operands are simplified.
TEST(Simplify, KeepsUnitsAndFoldsTheirOperands) {
  EXPECT_EQ(simplified([](Builder& b) {
              b.set_cluster(2);
              b.set_cooperative();
              auto flags = b.output("flags", Storage::I32);
              auto tile = b.shared("tile", Storage::BF16, 64);
              auto bar = b.mbarrier("bar", 2, 1);
              const Value zero = b.let("zero", b.constant(0)), one = b.let("one", zero + 1);
              const Value t = b.thread();
              auto a = b.array("a", Type::I32, 6);
              auto acc = b.array("acc", Type::F32, 8);
              b.load_matrix(a, one - 1, 4, false, tile[t * 1]);
              b.load_matrix(a, one * 4, 1, true, tile[t + 0]);
              b.for_("m", 1, 2, kFullUnroll,
                     [&](Value m) { b.mma(Storage::F16, acc, m * 4, a, zero, a, one + 3); });
              b.expect(bar, one - 1, one * 4);
              b.arrive(bar, one + 0);
              b.arrive(bar, one, zero);
              b.store_async(tile[t * 2 * 1], {b.pack(Storage::BF16, b.real(1) + b.real(2), b.real(0))}, one,
                            bar, zero);
              b.wait(bar, zero, t * 0);
              b.grid_arrive(flags[zero]);
              b.grid_wait(flags[zero + 0], one + 1);
            }),
            "array a: i32[6]\narray acc: f32[8]\nload_matrix.x4 a[0..] <- tile[thread]\n"
            "load_matrix.x1.transposed a[4..] <- tile[thread]\nmma.fp16 acc[4..] += a[0..] * a[4..]\n"
            "arrive bar[0] expecting 4 bytes\narrive bar[1]\narrive bar[1] of block 0\n"
            "store_async tile[thread * 2] of block 1 = pack_bf16(3.0, 0.0), counted on bar[0]\n"
            "wait bar[0] parity 0\ngrid_arrive flags[0]\ngrid_wait flags[0] >= 2\n");
}

TEST(Simplify, RandomKernelsComputeTheSameBits) {
  int shorter = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Kernel kernel = RandomKernel(seed).build();
    ASSERT_TRUE(verify(kernel).empty()) << seed << ": " << verify(kernel).front() << "\n" << print(kernel);
    const Kernel less = simplify(kernel);
    ASSERT_TRUE(verify(less).empty()) << seed << ": " << verify(less).front() << "\n" << print(less);
    std::vector<GlobalBuffer> before = RandomKernel::buffers(), after = RandomKernel::buffers();
    const SimulationResult first = run(kernel, 2, before), second = run(less, 2, after);
    ASSERT_TRUE(first.faults.empty()) << seed << "\n" << text(first) << print(kernel);
    ASSERT_TRUE(second.faults.empty()) << seed << "\n" << text(second) << print(less);
    ASSERT_LE(second.steps, first.steps);
    shorter += second.steps < first.steps ? 1 : 0;
    for (std::size_t k = 0; k < before.size(); ++k) {
      ASSERT_EQ(before[k].integers, after[k].integers) << seed << "\n" << print(kernel);
      for (std::size_t i = 0; i < before[k].values.size(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(before[k].values[i]),
                  std::bit_cast<std::uint32_t>(after[k].values[i]))
            << seed << " element " << i << "\n"
            << print(kernel) << print(less);
    }
    EXPECT_EQ(print(simplify(less)), print(less)) << "not done after one pass, seed " << seed;
  }
  EXPECT_GT(shorter, 100) << "the random kernels leave nothing to simplify";
}

}  // namespace
}  // namespace rondo::kernel::test
