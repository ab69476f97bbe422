// Points of the strategies for cells with matrices, another one each turn.
#pragma once

#include "compiler/schedule/persistent/geometry.h"
#include "compiler/schedule/plan/strategy.h"

namespace rondo::schedule {

// A legal point near the wanted one: fewer blocks where the head is too small for so many.
inline Parameters persistent_point(const Problem& problem, int blocks, int grid, int turn,
                                   bool reduce_scatter, int share = 1) {
  int vector = 16 / kernel::storage_bytes(problem.storage);
  while (problem.sizes.dim % vector != 0) vector /= 2;
  const int unit_blocks = reduce_scatter && blocks % 2 == 1 ? 2 : turn % 2 + 1;
  const int tiles = persistent_units(problem.sizes.dim, blocks, unit_blocks) * blocks / 16;
  const bool even = reduce_scatter ? blocks * unit_blocks % (4 * share) == 0 : tiles % 2 == 0;
  const int splits = turn % 3 == 1 && even ? 2 : 1;
  return {{"blocks", blocks},
          {"exchange", grid},
          {"reduce_scatter", reduce_scatter ? 1 : 0},
          {"cluster_k_split", share},
          {"setmaxnreg", 0},
          {"batch_tiles_in_flight", grid == 1 ? 2 : 1},
          {"split_k", splits},
          {"unit_blocks", unit_blocks},
          {"batch_tiles", turn % 3 == 2 ? 2 : 1},
          {"register_k_tiles", turn % 4},
          {"accumulators", turn % 2 + 1},
          {"steps", turn % 3 == 0 ? 2 : 4},
          {"stages", 3 + turn % 2},
          {"vector", vector},
          {"producer_warps", 1 + turn % 2},
          {"store_warps", 1 + turn / 2 % 2},
          {"poll_delay", grid == 1 && reduce_scatter ? 128 * (turn % 3) : 0}};
}

// A small one.
inline Parameters alternating_point(const Problem& problem, int turn) {
  int vector = 16 / kernel::storage_bytes(problem.storage);
  while (problem.sizes.dim % vector != 0) vector /= 2;
  return {{"units", turn % 3 == 0   ? 8
                    : turn % 3 == 1 ? 16
                                    : 32},
          {"batch_tiles", turn % 4 == 3 ? 2 : 1},
          {"warps", turn % 2 == 0 ? 2 : 4},
          {"stages", 2 + turn % 3},
          {"vector", vector}};
}

}  // namespace rondo::schedule
