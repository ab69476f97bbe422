// Products on matrix tiles in the simulator: the order of the operands, and what is not behind a barrier.
#include <limits>

#include "compiler/scalar/storage.h"
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

constexpr int kOwnRows = 3, kTileColumns = 32, kTileSteps = 2, kOfSum = kTileSteps * kTileStep;

enum class TileRace { None, OperandsWritten, SumsRead };

// sums = [+] left * right, both given row by row, packed by the kernel.
Kernel tile_product(bool adds, TileRace race = TileRace::None) {
  Builder b("product", 16);
  const Memory left = b.input("left", Storage::BF16), right = b.input("right", Storage::BF16);
  const Memory sums = b.output("sums", Storage::F32);
  const Memory own = b.shared("own", Storage::F32, kOwnRows * kTileColumns);
  const Memory rows = b.shared("rows", Storage::BF16, kOwnRows * kOfSum);
  const Memory plain = b.shared("plain", Storage::BF16, kOfSum * kTileColumns);
  const Memory tiles = b.shared("tiles", Storage::BF16, kOfSum * kTileColumns);
  const auto copy = [&](const Memory& to, const Memory& from, int count) {
    b.for_("i", 0, count / 32, 1, [&](Value i) {
      const Value at = b.let("at", i * 32 + b.thread() * 2);
      b.store_packed(to[at], b.load_packed("v", from[at], 1));
    });
  };
  copy(rows, left, kOwnRows * kOfSum);
  copy(plain, right, kOfSum * kTileColumns);
  b.for_("i", 0, kOwnRows * kTileColumns / 16, 1,
         [&](Value i) { b.store(own[i * 16 + b.thread()], b.real(1)); });
  b.barrier();
  for (int step = 0; step < kTileSteps; ++step)
    for (int column = 0; column < kTileColumns; column += kTileRows)
      b.pack_tile({tiles[b.constant((step * kTileColumns + column) * kTileStep)], kTileStep},
                  {plain[b.constant(step * kTileStep * kTileColumns + column)], kTileColumns}, false);
  b.barrier();
  if (race == TileRace::OperandsWritten) b.store(rows[b.thread()], b.real(0));
  b.tile_mma(kOwnRows, kTileColumns, b.constant(kTileSteps), adds, {own[b.constant(0)], kTileColumns},
             {rows[b.constant(0)], kOfSum}, tiles[b.constant(0)]);
  if (race != TileRace::SumsRead) b.barrier();
  b.for_("i", 0, kOwnRows * kTileColumns / 16, 1,
         [&](Value i) { b.store(sums[i * 16 + b.thread()], b.load("sum", own[i * 16 + b.thread()])); });
  return b.finish();
}

double left_at(int row, int k) { return (row + k) % 5 - 2; }
double right_at(int k, int column) { return (k * 3 + column) % 7 - 3; }

std::vector<GlobalBuffer> tile_operands() {
  std::vector<double> left, right;
  for (int row = 0; row < kOwnRows; ++row)
    for (int k = 0; k < kOfSum; ++k) left.push_back(left_at(row, k));
  for (int k = 0; k < kOfSum; ++k)
    for (int column = 0; column < kTileColumns; ++column) right.push_back(right_at(k, column));
  return {input_buffer(Storage::BF16, left), input_buffer(Storage::BF16, right),
          output_buffer(Storage::F32, kOwnRows * kTileColumns)};
}

TEST(SimulateTiles, MultiplyWhatIsPacked) {
  for (const bool adds : {false, true}) {
    std::vector<GlobalBuffer> buffers = tile_operands();
    expect_clean(run(tile_product(adds), 1, buffers));
    for (int row = 0; row < kOwnRows; ++row)
      for (int column = 0; column < kTileColumns; ++column) {
        double sum = adds ? 1 : 0;
        for (int k = 0; k < kOfSum; ++k) sum += left_at(row, k) * right_at(k, column);
        ASSERT_EQ(buffers[2].values[static_cast<std::size_t>(row * kTileColumns + column)], sum);
      }
  }
}

TEST(SimulateTiles, ATransposedTileHasItsColumnsAsRows) {
  Builder b("transposed", 16);
  const Memory from = b.input("from", Storage::BF16), to = b.output("to", Storage::BF16);
  b.pack_tile({to[b.constant(0)], kTileStep}, {from[b.constant(0)], kTileRows}, true);
  std::vector<GlobalBuffer> buffers = {counting(Storage::BF16, 256 + 256),
                                       output_buffer(Storage::BF16, kTileElements)};
  for (std::size_t i = 256; i < 512; ++i) buffers[0].values[i] = -buffers[0].values[i - 256];
  expect_clean(run(b.finish(), 1, buffers));
  for (std::size_t column = 0; column < kTileRows; ++column)
    for (std::size_t row = 0; row < kTileStep; ++row)
      ASSERT_EQ(buffers[1].values[column * kTileStep + row], buffers[0].values[row * kTileRows + column]);
}

// As the instruction does: what is below fp32's normal numbers counts as zero.
TEST(SimulateTiles, SmallNumbersAreZero) {
  std::vector<GlobalBuffer> buffers = tile_operands();
  const float small = scalar::round_to(Storage::BF16, std::numeric_limits<float>::min() / 4);
  ASSERT_GT(small, 0);
  for (float& value : buffers[0].values) value = small;
  for (float& value : buffers[1].values) value = 1e30F;
  expect_clean(run(tile_product(false), 1, buffers));
  for (const float sum : buffers[2].values) ASSERT_EQ(sum, 0);
}

TEST(SimulateTiles, WhatIsNotBehindABarrierIsARace) {
  for (const TileRace race : {TileRace::OperandsWritten, TileRace::SumsRead}) {
    std::vector<GlobalBuffer> buffers = tile_operands();
    EXPECT_TRUE(
        reported(run(tile_product(false, race), 1, buffers), Fault::Kind::Race, {"with no barrier between"}));
  }
}

}  // namespace
}  // namespace rondo::kernel::test
