// Products of a warpgroup: what they read, when, and what can go wrong meanwhile. Layouts are tested with the
// sample kernels of the backend (unit_kernels_simulated_test.cpp).
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

using Kind = Fault::Kind;

enum class Damage {
  None,
  NotPublished,
  PublishedAfterBarrier,
  NoBarrier,
  Overwritten,
  OverwrittenAfterBarrier,
  NotAwaited,
  ReadEarly,
  WrittenEarly,
  Astray,
  Unwritten,
};

// c (64 x 16) = a * b, one step: every thread writes half a row of a or less of b, all in their first
// columns.
Kernel product(Damage damage) {
  constexpr int kRow = 64, kColumns = 16, kWarpgroup = 128;
  Builder b("product", kWarpgroup);
  const Memory c = b.output("c", Storage::F32);
  const Memory left = b.shared("left", Storage::BF16, 64 * kRow),
               right = b.shared("right", Storage::BF16, 16 * kRow);
  const Value t = b.thread(), half = b.let("half", t % 2 * 8);
  const auto put = [&](const Memory& to, Value row, double value) {
    b.store_vector(to[row * kRow + (half ^ (row % 8 * 8))], std::vector<Value>(8, b.real(value)));
  };
  put(left, t / 2, 2);
  b.if_(t < (damage == Damage::Unwritten ? 30 : 32), [&] { put(right, t / 2, 3); });
  const Array sum = b.array("sum", Type::F32, kColumns / 2);
  b.for_("i", 0, kColumns / 2, kFullUnroll, [&](Value i) { b.write(sum, i, b.real(1)); });
  if (damage != Damage::NotPublished && damage != Damage::PublishedAfterBarrier) b.proxy_fence();
  if (damage != Damage::NoBarrier) b.barrier();
  if (damage == Damage::PublishedAfterBarrier) b.proxy_fence();
  const Value first = damage == Damage::Astray ? b.let("first", t / kWarpgroup + 8) : b.constant(0);
  b.warpgroup_mma(Storage::BF16, kColumns, 1, sum, {left[first]}, {right[b.constant(0)]});
  if (damage == Damage::OverwrittenAfterBarrier) b.barrier();
  if (damage == Damage::Overwritten || damage == Damage::OverwrittenAfterBarrier) put(left, t / 2, 5);
  if (damage == Damage::ReadEarly) b.store(c[t], b.read(sum, b.constant(0)));
  if (damage == Damage::WrittenEarly) b.write(sum, b.constant(3), b.real(0));
  if (damage == Damage::NotAwaited) return b.finish();
  b.wgmma_wait(0);
  b.for_("i", 0, kColumns / 2, kFullUnroll, [&](Value i) { b.store(c[i * kWarpgroup + t], b.read(sum, i)); });
  return b.finish();
}

SimulationResult run(Damage damage, std::vector<GlobalBuffer>& buffers) {
  buffers = {output_buffer(Storage::F32, 8 * 128)};
  return test::run(product(damage), 1, buffers);
}

TEST(SimulateWarpgroup, AddsTheProduct) {
  std::vector<GlobalBuffer> buffers;
  expect_clean(run(Damage::None, buffers));
  for (const float value : buffers[0].values) ASSERT_EQ(value, 1 + 16 * 2 * 3);
}

struct Case {
  Damage damage;
  Kind kind;
  const char* says;
};

TEST(SimulateWarpgroup, DamageIsFound) {
  for (const Case& c :
       {Case{Damage::NotPublished, Kind::Race, "who has not published it to the tensor cores before"},
        {Damage::PublishedAfterBarrier, Kind::Race, "who has not published it to the tensor cores"},
        {Damage::NoBarrier, Kind::Race, "with no barrier between"},
        {Damage::Overwritten, Kind::Race, "left["},
        {Damage::OverwrittenAfterBarrier, Kind::Race, "before the product was waited for"},
        {Damage::NotAwaited, Kind::Protocol, "ends without waiting for the product"},
        {Damage::ReadEarly, Kind::Unset, "belongs to a product that is not waited for"},
        {Damage::WrittenEarly, Kind::Protocol, "touched register 3 of the accumulator"},
        {Damage::Astray, Kind::Misaligned, "operands from elements 8 and 0 on"},
        {Damage::Unwritten, Kind::Unwritten, "right["}}) {
    std::vector<GlobalBuffer> buffers;
    const SimulationResult result = run(c.damage, buffers);
    EXPECT_TRUE(reported(result, c.kind, {c.says})) << static_cast<int>(c.damage) << ": " << text(result);
  }
}

// Lanes that disagree, and a warp that is not all there.
TEST(SimulateWarpgroup, AllLanesNameTheSameOperands) {
  Builder b("lanes", 128);
  const Memory left = b.shared("left", Storage::BF16, 8192), right = b.shared("right", Storage::BF16, 1024);
  const Array sum = b.array("sum", Type::F32, 8);
  b.for_("i", 0, 8, kFullUnroll, [&](Value i) { b.write(sum, i, b.real(0)); });
  b.warpgroup_mma(Storage::BF16, 16, 1, sum, {left[b.let("first", b.thread() % 2 * 512)]},
                  {right[b.constant(0)]});
  b.wgmma_wait(0);
  std::vector<GlobalBuffer> buffers;
  EXPECT_TRUE(reported(test::run(b.finish(), 1, buffers), Kind::Protocol, {"names other operands"}));
}

}  // namespace
}  // namespace rondo::kernel::test
