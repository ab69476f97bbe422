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
                         {"poll_delay", 0},
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

// Milliseconds of a backward LSTM, one head of 768 channels, whose blocks exchange sums through the L2.
double delayed(std::int64_t poll_delay) {
  Problem problem;
  problem.sizes = {16, 1024, 1, 768};
  problem.pass = Pass::Backward;
  const Parameters point{{"accumulators", 2},   {"batch_tiles", 1},     {"batch_tiles_in_flight", 2},
                         {"blocks", 48},        {"cluster_k_split", 4}, {"exchange", 1},
                         {"producer_warps", 1}, {"reduce_scatter", 1},  {"register_k_tiles", 16},
                         {"setmaxnreg", 0},     {"split_k", 2},         {"stages", 3},
                         {"steps", 8},          {"store_warps", 1},     {"poll_delay", poll_delay},
                         {"unit_blocks", 1},    {"vector", 8}};
  return 1e3 * find_strategy("persistent")
                   ->cost_model(cell_named("lstm"), problem, target::board("h200"))(point)
                   .seconds;
}

// 1.99 ms without a delay, 1.92 with 200 cycles, 1.89 with 300 (H200).
TEST(PersistentModel, ALookForSumsMayComeTooEarly) {
  EXPECT_NEAR(delayed(0) - delayed(256), 0.085, 0.02);
  EXPECT_LT(delayed(256), delayed(128));
  EXPECT_LT(delayed(256), delayed(512));
}

}  // namespace
}  // namespace rondo::schedule
