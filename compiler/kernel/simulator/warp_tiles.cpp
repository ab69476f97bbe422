// Warp: products on a CPU's matrix tiles. The first lane stands for the block that reads and writes: what
// other lanes left must be behind a barrier, and so must what they read.
#include <cmath>
#include <limits>

#include "compiler/kernel/simulator/warp.h"

namespace rondo::kernel::simulator {

namespace {

// Intel's manual, TDPBF16PS: even and odd elements of a step are added up apart, from zero, with "DAZ=1,
// FTZ=1" for operands and results.
float flushed(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0F, value) : value;
}

}  // namespace

std::vector<float> Warp::tile_row(const MemRef& place, std::int64_t first, int count, GroupContext& context) {
  std::vector<float> values(static_cast<std::size_t>(count));
  const Span row = span(place, first, count);
  if (!context.memory.read(row, thread(0))) return values;
  const GlobalBuffer& data = context.memory.data(row);
  for (int i = 0; i < count; ++i)
    values[static_cast<std::size_t>(i)] = data.values[static_cast<std::size_t>(first + i)];
  return values;
}

void Warp::set_tile_row(const MemRef& place, std::int64_t first, const std::vector<float>& values,
                        GroupContext& context) {
  const Span row = span(place, first, static_cast<int>(values.size()));
  if (!context.memory.write(row, thread(0))) return;
  GlobalBuffer& data = context.memory.data(row);
  for (std::size_t i = 0; i < values.size(); ++i)
    data.values[static_cast<std::size_t>(first) + i] = values[i];
}

void Warp::act(const MultiplyTiles& a, GroupContext& context) {
  require_fp32(lanes_.fp64(), "multiplies matrices");
  if (!whole_warp("a product of matrix tiles", context)) return;
  const TileMma& mma = *a.mma;
  const std::int64_t steps = lanes_[a.steps].i[0], sums = lanes_[a.sums].i[0];
  const int columns = mma.columns, tiles = columns / kTileRows;
  const auto right_of = [](const std::vector<std::vector<float>>& right, std::size_t k, std::size_t c) {
    return right[c / kTileRows][k / 2 * kTileStep + 2 * (c % kTileRows) + k % 2];
  };
  std::vector<std::vector<float>> result;
  for (int row = 0; row < mma.rows; ++row)
    result.push_back(mma.adds ? tile_row(mma.sums, sums + std::int64_t{row} * mma.sum_pitch, columns, context)
                              : std::vector<float>(static_cast<std::size_t>(columns)));
  for (std::int64_t step = 0; step < steps; ++step) {
    std::vector<std::vector<float>> right;  // each tile's elements
    for (int tile = 0; tile < tiles; ++tile)
      right.push_back(
          tile_row(mma.b, lanes_[a.b].i[0] + (step * tiles + tile) * kTileElements, kTileElements, context));
    for (int row = 0; row < mma.rows; ++row) {
      const std::vector<float> left = tile_row(
          mma.a, lanes_[a.a].i[0] + std::int64_t{row} * mma.a_pitch + step * kTileStep, kTileStep, context);
      std::vector<float>& sum = result[static_cast<std::size_t>(row)];
      for (std::size_t c = 0; c < sum.size(); ++c) {
        float parts[2] = {0, 0};
        for (std::size_t k = 0; k < left.size(); ++k)
          parts[k % 2] = flushed(std::fma(flushed(left[k]), flushed(right_of(right, k, c)), parts[k % 2]));
        sum[c] = flushed(flushed(sum[c]) + flushed(parts[0] + parts[1]));
      }
    }
  }
  for (int row = 0; row < mma.rows; ++row)
    set_tile_row(mma.sums, sums + std::int64_t{row} * mma.sum_pitch, result[static_cast<std::size_t>(row)],
                 context);
}

void Warp::act(const PackElements& a, GroupContext& context) {
  require_fp32(lanes_.fp64(), "packs tiles");
  if (!whole_warp("packing a matrix tile", context)) return;
  const PackTile& pack = *a.pack;
  std::vector<std::vector<float>> rows;
  for (int row = 0; row < kTileStep; ++row)
    rows.push_back(
        tile_row(pack.from, lanes_[a.from].i[0] + std::int64_t{row} * pack.from_pitch, kTileRows, context));
  for (std::size_t to = 0; to < kTileRows; ++to) {
    std::vector<float> packed;
    for (std::size_t i = 0; i < kTileStep; ++i)
      packed.push_back(pack.transposed ? rows[i][to] : rows[2 * to + i % 2][i / 2]);
    set_tile_row(pack.to, lanes_[a.to].i[0] + static_cast<std::int64_t>(to) * pack.to_pitch, packed, context);
  }
}

}  // namespace rondo::kernel::simulator
