#include "compiler/schedule/persistent/geometry.h"

#include <algorithm>
#include <cmath>

#include "compiler/support/integers.h"
#include "compiler/target/cluster_cost.h"

namespace rondo::schedule {

// A block gets as many registers a thread as fit for all its threads; what the group of helpers gives back is
// divided among the others.
int PersistentGeometry::compute_registers(int multiplying_threads, bool head_values) {
  constexpr int kRegisters = 65536;
  const int first = kRegisters / (multiplying_threads + 128) / 8 * 8;
  return std::min(248, first + 128 * (first - helper_registers(head_values)) / multiplying_threads / 8 * 8);
}

// Whole warps of whole blocks of 8 channels, and together a multiple of 16: the k extent of an mma.
// With a reduce-scatter the k extent is the channels of the blocks that share them.
int persistent_units(std::int64_t dim, int blocks, int unit_blocks, bool whole_tiles) {
  const std::int64_t granule = std::max(8 * unit_blocks, blocks % 2 == 1 || whole_tiles ? 16 : 8);
  const std::int64_t share = ceil_div(dim, blocks);
  return static_cast<int>(round_up(share, granule));
}

PersistentGeometry::PersistentGeometry(std::int64_t dim_, kernel::Storage storage,
                                       const PersistentParameters& parameters)
    : dim(dim_),
      element_bytes(kernel::storage_bytes(storage)),
      p(parameters),
      units(persistent_units(dim_, parameters.blocks, parameters.unit_blocks,
                             parameters.reduce_scatter && parameters.cluster_k_split == 1)),
      padded(units * parameters.blocks),
      k_tiles(padded / 16),
      warps(units / (8 * parameters.unit_blocks)),
      turn_batch(8 * parameters.batch_tiles),
      batch(turn_batch * parameters.tiles_in_turn) {}

double waves(const PersistentGeometry& g, const step::Sizes& sizes, const target::Limits& limits) {
  const double blocks =
      static_cast<double>(g.p.blocks * sizes.heads) * std::ceil(static_cast<double>(sizes.batch) / g.batch);
  const double teams = g.in_grid() ? static_cast<double>(g.p.batch_tiles_in_flight * sizes.heads)
                                   : target::clusters_at_once(limits, g.p.blocks, 1);
  return std::ceil(blocks / g.p.blocks / teams);
}

}  // namespace rondo::schedule
