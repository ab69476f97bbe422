// Who multiplies what in an alternating kernel.
//
// A block owns `units` neighbouring channels of a head, with all rows of the matrices that belong to them,
// for `batch` batch rows. The rows of a group of products, [product][unit], are cut into tiles of 16; a warp
// takes every warps-th chunk of the columns, for all row tiles and all batch tiles of 8. Lane 4g + q of it
// sums rows g and g + 8 for batch rows 2q and 2q + 1: the accumulators of mma.m16n8k16 (PTX ISA), which the
// form for fp32 storage shares.
//
// Chunks come in pieces of 512 bytes, 16 a lane: two of each row tile, packed beforehand in this order, and
// one of each batch tile (row lane / 4 of the tile, 16 bytes at lane % 4).
//
// Products of other kinds are made by plain lanes, whatever the storage type, and their pieces lie like those
// of fp32. A Scatter has no matrix: pieces of chosen channels, fp32, come beside those of its vector.
#pragma once

#include <cstdint>

#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/schedule/problem/parameter_table.h"
#include "compiler/schedule/stepwise/sweep.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

struct AlternatingParameters {
  int units = 16;
  int batch_tiles = 1;
  int warps = 8;
  int stages = 3;
  int vector = 1;
  bool reads_at_use = false;  // StepTile
};
template <>
inline constexpr auto kParameters<AlternatingParameters> = [] {
  using P = AlternatingParameters;
  return parameter_table<P>(
      "alternating",
      {row<P, &P::units>("units", PowersOfTwo{8, 64}, "channels a block"),
       row<P, &P::batch_tiles>("batch_tiles", PowersOfTwo{1, 8}, "tiles of 8 batch rows a block"),
       row<P, &P::warps>("warps", PowersOfTwo{2, 16}, "warps that share the columns of a product"),
       row<P, &P::stages>("stages", {2, 3, 4, 6}, "chunks of columns in flight a warp"),
       row<P, &P::vector>("vector", PowersOfTwo{1, 8},
                          "elements that a copy of the launches over all steps moves (backward only)",
                          {.optional = true}),
       row<P, &P::reads_at_use>(
           "reads_at_use",
           "1: values of a step are read where they are first used, 0: far ahead, unless that "
           "takes too many registers",
           {.optional = true})});
}();

struct AlternatingGeometry {
  AlternatingGeometry(const Problem& problem, const AlternatingParameters& parameters);

  static constexpr int kPieceLanes = 32, kPieceBytes = 512;

  std::int64_t dim;
  AlternatingParameters p;
  int lane_elements;  // elements in 16 bytes
  int chunk;          // columns of a chunk: 4 * lane_elements
  int chunks;         // how many a row has
  int padded;         // columns of all chunks of a row
  int tiles;          // blocks that share a head
  int batch;          // batch rows a block

  int threads() const { return 32 * p.warps; }
  StepTile tile() const { return {dim, p.units, threads(), batch, tiles, padded, false, p.reads_at_use}; }
  int piece_elements() const { return kPieceLanes * lane_elements; }
  // Of a group of products, in a chunk: those of the matrices.
  int matrix_pieces(const ProductGroup& group) const {
    return group.kind == ProductKind::Scatter ? 0 : 2 * row_tiles(group);
  }
  // Numbers of chosen channels of a product, a batch tile and a chunk.
  int chosen_elements() const { return 8 * chunk; }
  int row_tiles(const ProductGroup& group) const {
    return (static_cast<int>(group.products.size()) * p.units + 15) / 16;
  }
  // Elements of the packed matrices of a group, all heads.
  std::int64_t packed_elements(const Problem& problem, const ProductGroup& group) const;
  // Channels of the block, [batch][units], are dealt to its threads in turns.
  int channels() const { return p.units * batch; }
  int turns() const { return ceil_div(channels(), threads()); }
};

// Whether products are made by plain lanes, not on tensor cores.
inline bool is_plain(const Problem& problem, const ProductGroup& group) {
  return problem.storage == kernel::Storage::F32 || group.kind != ProductKind::Sum;
}

}  // namespace rondo::schedule
