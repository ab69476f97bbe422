// Points of persistent at which warps gather fragments.
#pragma once

#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"

namespace rondo::schedule {

inline const Strategy* const kStrategyOfFragments = find_strategy("persistent");

struct FragmentForm {
  int blocks = 8, unit_blocks = 1, split_k = 2, batch_tiles = 1, accumulators = 2, register_k_tiles = 64;
  int poll_delay = 0;
};

inline Parameters point_of_fragments(const Problem& problem, const FragmentForm& form) {
  std::int64_t vector = 16 / kernel::storage_bytes(problem.storage);
  while (problem.sizes.dim % vector != 0) vector /= 2;
  return {{"blocks", form.blocks},
          {"exchange", 1},
          {"reduce_scatter", 0},
          {"cluster_k_split", 1},
          {"setmaxnreg", 0},
          {"batch_tiles_in_flight", 2},
          {"split_k", form.split_k},
          {"unit_blocks", form.unit_blocks},
          {"batch_tiles", form.batch_tiles},
          {"tiles_in_turn", 1},
          {"gather_fragments", 1},
          {"register_k_tiles", form.register_k_tiles},
          {"accumulators", form.accumulators},
          {"steps", 2},
          {"stages", 3},
          {"vector", vector},
          {"producer_warps", 1},
          {"store_warps", 1},
          {"poll_delay", form.poll_delay}};
}

inline Case case_of_fragments(const step::Cell& cell, const step::Sizes& sizes, const FragmentForm& form,
                              Storage storage = Storage::BF16) {
  Case c{kStrategyOfFragments, cell, {}, {}, {}, true};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.parameters = c.backward = point_of_fragments(c.problem, form);
  return c;
}

inline void compare(Case c) {
  SCOPED_TRACE(c.name());
  Comparison(std::move(c)).run();
}

}  // namespace rondo::schedule
