#include "compiler/schedule/host/blocked_product.h"

#include <algorithm>

#include "compiler/schedule/host/register_tile.h"
#include "compiler/schedule/lower/product_terms.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

constexpr int kLine = 64;            // bytes of a cache line
constexpr int kPartBytes = 1 << 14;  // of a matrix, as fp32: with the next part in a first cache of 48 KB
constexpr int kLeastColumns = 32;    // else loading and storing sums takes longer than adding to them
constexpr int kAheadBytes = 1 << 13;

}  // namespace

std::int64_t vector_pitch(std::int64_t dim, int lanes) {
  const std::int64_t vectors = ceil_div(dim, lanes);
  return (vectors | 1) * lanes;
}

Value BlockedProduct::sum_at(int product, Value row) const {
  const int chunk = product / p.together;
  const std::int64_t before = std::int64_t{chunk} * p.together * rows * p.channels();
  const std::int64_t plane = kind == ProductKind::Channel ? largest() : 0;
  return row * (packed.chunk_products(chunk) * p.channels()) +
         (plane + before + product % p.together * p.channels());
}

// Rows in tiles whose sizes differ by one at most. A chunk of fewer products has more rows a tile, for as
// many sums, unless the rows are counted while the kernel runs: then `rows` is a multiple of `tile` alone.
std::vector<BlockedProduct::Tiles> BlockedProduct::tiles(kernel::Builder& b, Value count,
                                                         int products) const {
  if (count.valid()) return {{0, tile, rows / tile, b.let("tiles", ceil_div(count, tile))}};
  const int most = tile * p.together / products;
  const int number = ceil_div(rows, most), small = rows / number, large = rows % number;
  std::vector<Tiles> result;
  if (large > 0) result.push_back({0, small + 1, large, b.constant(large)});
  result.push_back({large * (small + 1), small, number - large, b.constant(number - large)});
  return result;
}

void BlockedProduct::multiply_tiles(kernel::Builder& b, Value block, Value chunk, int products,
                                    std::int64_t first_vector, std::int64_t first_sum) const {
  const int columns = products * p.channels();
  const Value chunk_at = packed.chunk_at(block, chunk);
  const Value matrix = b.let("matrix_at", from.valid() ? chunk_at + from : chunk_at);
  const Value own = b.let("sums_at", chunk * (rows * p.together * p.channels()) + first_sum);
  const Value all = b.constant(packed.dim / kernel::kTileStep);
  b.tile_mma(rows, columns, any.valid() ? b.select(any, all, b.constant(0)) : all, adds, {sums[own], columns},
             {vectors[b.constant(first_vector)], pitch}, matrices[matrix]);
}

void BlockedProduct::multiply(kernel::Builder& b, Value block, std::int64_t first_vector,
                              std::int64_t first_sum, Value count) const {
  const int full = packed.products / p.together, rest = packed.products % p.together;
  if (packed.in_tiles) {
    b.for_("chunk", 0, full, 1,
           [&](Value chunk) { multiply_tiles(b, block, chunk, p.together, first_vector, first_sum); });
    if (rest > 0) multiply_tiles(b, block, b.constant(full), rest, first_vector, first_sum);
    b.barrier();
    return;
  }
  if (full > 0) {
    const std::vector<Tiles> parts = tiles(b, count, p.together);
    b.for_("chunk", 0, full, 1,
           [&](Value chunk) { multiply_chunk(b, block, chunk, p.together, first_vector, first_sum, parts); });
  }
  if (rest > 0)
    multiply_chunk(b, block, b.constant(full), rest, first_vector, first_sum, tiles(b, count, rest));
}

void BlockedProduct::multiply_chunk(kernel::Builder& b, Value block, Value chunk, int products,
                                    std::int64_t first_vector, std::int64_t first_sum,
                                    const std::vector<Tiles>& parts) const {
  const int vectors_a_row = products * p.vectors, step = vectors_a_row * p.lanes;
  const int bytes = kernel::storage_bytes(packed.storage), line = kLine / bytes;
  int number = 0;
  for (const Tiles& part : parts) number += part.number;
  const std::int64_t dim = packed.dim;
  const std::int64_t columns =
      number == 1 ? dim : std::max<std::int64_t>(kLeastColumns, kPartBytes / (4 * step) / 16 * 16);
  const std::int64_t ahead = number == 1 ? std::max(1, kAheadBytes / (bytes * step)) : columns;
  const int lines = ceil_div(step * bytes, kLine * number);  // a column and tile

  const Value chunk_at = packed.chunk_at(block, chunk);
  const Value matrix = b.let("matrix_at", (from.valid() ? chunk_at + from : chunk_at) + b.wide(b.thread()));
  const Value own = b.let("sums_at", chunk * (rows * p.together * p.channels()) + (b.thread() + first_sum));
  const Value begun = b.constant(adds ? 0 : std::int64_t{rows} * step);
  b.for_("i", b.constant(0), begun, b.constant(p.lanes), 1, [&](Value i) {
    b.store(sums[own + i], b.real(neutral(kind)));
    if (kind == ProductKind::Channel) b.store(sums[own + i + largest()], b.real(0));
  });
  const auto multiply_tile = [&](Value column, Value end, Value index, Value row, int tile_rows) {
    const kernel::Array acc = b.array("acc", kernel::Type::F32, tile_rows * vectors_a_row);
    const Value place = b.let("tile_at", own + row * step);
    const kernel::Array channels = kind == ProductKind::Channel
                                       ? b.array("channels", kernel::Type::F32, tile_rows * vectors_a_row)
                                       : kernel::Array{};
    for (int i = 0; i < tile_rows * vectors_a_row; ++i) {
      b.write(acc, b.constant(i), b.load("sum", sums[place + i * p.lanes]));
      if (kind == ProductKind::Channel)
        b.write(channels, b.constant(i), b.load("first", sums[place + i * p.lanes + largest()]));
    }
    const Value vector = b.let("vector_at", row * pitch + first_vector);
    const Value next =
        b.let("next_at", matrix + b.wide(column + ahead) * std::int64_t{step} +
                             b.wide(index * (columns * lines * line) - column * (lines * line)));
    RegisterTile registers;
    registers.kind = kind;
    registers.acc = acc, registers.channels = channels;
    registers.rows = tile_rows, registers.vectors = vectors_a_row;
    registers.left = [&](Value k, int r) { return b.load("v", vectors[vector + k + r * pitch]); };
    registers.right = [&](Value k, int v) {
      return b.load("r", matrices[matrix + b.wide(k) * std::int64_t{step} + std::int64_t{v} * p.lanes]);
    };
    registers.ahead = [&](Value k) {
      for (int i = 0; i < lines; ++i)
        b.prefetch(matrices[next + b.wide(k) * std::int64_t{lines * line} + std::int64_t{i} * line]);
    };
    registers.multiply(b, column, end);
    for (int i = 0; i < tile_rows * vectors_a_row; ++i) {
      b.store(sums[place + i * p.lanes], b.read(acc, b.constant(i)));
      if (kind == ProductKind::Channel)
        b.store(sums[place + i * p.lanes + largest()], b.read(channels, b.constant(i)));
    }
  };
  const Value all = b.constant(dim);
  const Value read = any.valid() ? b.select(any, all, b.constant(0)) : all;
  b.for_("column", b.constant(0), read, b.constant(columns), 1, [&](Value column) {
    const Value end = b.let("columns_end", min(column + columns, b.constant(dim)));
    int before = 0;
    for (const Tiles& part : parts) {
      b.for_("tile_of_rows", b.constant(0), part.count, b.constant(1), 1, [&](Value i) {
        multiply_tile(column, end, i + before, b.let("row", i * part.rows + part.first), part.rows);
      });
      before += part.number;
    }
  });
}

}  // namespace rondo::schedule
