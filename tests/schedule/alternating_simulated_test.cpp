// alternating, forward and backward, in the simulator against the fp64 reference.
#include <gtest/gtest.h>

#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"

namespace rondo::schedule {
namespace {

const Strategy* const kAlternating = find_strategy("alternating");

// A small point, another one each turn.
Parameters parameters_for(const Problem& problem, int turn) {
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

void run_all_sizes(Storage storage) {
  int turn = 0;
  for (const step::Cell& cell : dense_cells())
    for (const std::int64_t dim : {1, 40, 72}) {
      const std::int64_t batches[] = {1, 5, 17}, times[] = {1, 2, 9};
      ++turn;
      Case c{kAlternating, cell, {}, {}, {}, false};
      c.problem.sizes = {batches[turn % 3], times[(turn / 3 + turn) % 3], turn % 2 + 1, dim};
      c.problem.storage = storage;
      c.problem.math = default_math(storage);
      c.parameters = parameters_for(c.problem, turn);
      c.reached_states = true;
      Comparison(std::move(c)).run();
      if (testing::Test::HasFailure()) return;
    }
}

TEST(AlternatingSimulated, Bf16) { run_all_sizes(Storage::BF16); }
TEST(AlternatingSimulated, Fp16) { run_all_sizes(Storage::F16); }
TEST(AlternatingSimulated, Fp32) { run_all_sizes(Storage::F32); }

}  // namespace
}  // namespace rondo::schedule
