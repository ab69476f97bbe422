// What the cost model of persistent says of warps and registers, beside what an H200 took.
#include <gtest/gtest.h>

#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

// Milliseconds of an LSTM forward, 6 heads of 128 channels, B = 16, T = 1024, bf16, by a cluster of four.
double with(std::int64_t producer_warps, std::int64_t store_warps, std::int64_t setmaxnreg) {
  Problem problem;
  problem.sizes = {16, 1024, 6, 128};
  const Parameters point{{"accumulators", 2},
                         {"batch_tiles", 1},
                         {"batch_tiles_in_flight", 1},
                         {"blocks", 4},
                         {"cluster_k_split", 1},
                         {"exchange", 0},
                         {"producer_warps", producer_warps},
                         {"reduce_scatter", 0},
                         {"register_k_tiles", 8},
                         {"setmaxnreg", setmaxnreg},
                         {"split_k", 1},
                         {"stages", 4},
                         {"steps", 8},
                         {"store_warps", store_warps},
                         {"unit_blocks", 1},
                         {"vector", 8}};
  return 1e3 * find_strategy("persistent")
                   ->cost_model(cell_named("lstm"), problem, target::board("h200"))(point)
                   .seconds;
}

// 0.391 ms with two other warps and setmaxnreg's registers, 0.444 with six and without (H200).
TEST(PersistentModel, OtherWarpsAndFewRegistersTakeTime) {
  EXPECT_GT(with(4, 2, 0), 1.02 * with(1, 1, 1));
  EXPECT_GT(with(1, 1, 0), with(1, 1, 1));
  EXPECT_GT(with(4, 1, 1), with(2, 1, 1));
}

}  // namespace
}  // namespace rondo::schedule
