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
                   ->cost_model({cell_named("lstm"), problem, target::board("h200")})(point)
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
                   ->cost_model({cell_named("lstm"), problem, target::board("h200")})(point)
                   .seconds;
}

// 1.99 ms without a delay, 1.92 with 200 cycles, 1.89 with 300 (H200).
TEST(PersistentModel, ALookForSumsMayComeTooEarly) {
  EXPECT_NEAR(delayed(0) - delayed(256), 0.085, 0.02);
  EXPECT_LT(delayed(256), delayed(128));
  EXPECT_LT(delayed(256), delayed(512));
}

// Microseconds of a few steps forward in a grid, with the speeds that calibration finds on an H200.
double few_steps(const char* cell, const step::Sizes& sizes, const Parameters& choice) {
  Problem problem;
  problem.sizes = sizes;
  Parameters point{{"accumulators", 2},   {"cluster_k_split", 1}, {"exchange", 1},    {"producer_warps", 1},
                   {"reduce_scatter", 0}, {"setmaxnreg", 1},      {"stages", 3},      {"steps", 8},
                   {"store_warps", 1},    {"poll_delay", 0},      {"unit_blocks", 1}, {"vector", 8}};
  for (const auto& [name, value] : choice) point[name] = value;
  target::Profile profile = target::board("h200");
  profile.speeds.launch_s = 1.28e-6;
  profile.speeds.clock_hz = 1.98e9;
  return 1e6 * find_strategy("persistent")->cost_model({cell_named(cell), problem, profile})(point).seconds;
}

// One step of 768 channels takes 8.0 us on 96 blocks (LSTM, B = 1), 9.4 (LSTM) and 8.9 (GRU) on twice 48 (B =
// 16). Matrices that go through shared memory take longer: one step of an LSTM of 1024 channels, B = 64,
// takes 24.6 us, and eight of 2048 channels, B = 16, take 50.6 (H200).
TEST(PersistentModel, AFewStepsTakeWhatTheMatricesTake) {
  const auto is_near = [](double measured, const char* cell, const step::Sizes& sizes,
                          const Parameters& choice) {
    EXPECT_NEAR(few_steps(cell, sizes, choice), measured, 0.2 * measured) << cell << " D=" << sizes.dim;
  };
  Parameters point{{"batch_tiles", 1},
                   {"batch_tiles_in_flight", 1},
                   {"blocks", 96},
                   {"split_k", 4},
                   {"register_k_tiles", 12}};
  is_near(8.0, "lstm", {1, 1, 1, 768}, point);
  point["blocks"] = 48, point["batch_tiles_in_flight"] = 2;
  is_near(9.4, "lstm", {16, 1, 1, 768}, point);
  is_near(8.9, "gru", {16, 1, 1, 768}, point);
  point = {{"batch_tiles", 4},       {"batch_tiles_in_flight", 2}, {"blocks", 64}, {"split_k", 2},
           {"register_k_tiles", 10}, {"producer_warps", 2},        {"steps", 2}};
  is_near(24.6, "lstm", {64, 1, 1, 1024}, point);
  point = {{"batch_tiles", 2},       {"batch_tiles_in_flight", 1}, {"blocks", 128}, {"split_k", 4},
           {"register_k_tiles", 16}, {"accumulators", 1},          {"steps", 2}};
  is_near(50.6, "lstm", {16, 8, 1, 2048}, point);
}

// Microseconds of a step of all tiles of a block, forward, bf16, of 512 steps. What an H200 took stands
// beside.
double in_turn(const char* cell, std::int64_t dim, std::int64_t batch, std::int64_t blocks,
               std::int64_t tiles, std::int64_t turns, std::int64_t split_k, std::int64_t register_k_tiles) {
  Problem problem;
  problem.sizes = {batch, 512, 1, dim};
  const Parameters point{{"accumulators", 2},
                         {"batch_tiles", tiles},
                         {"batch_tiles_in_flight", batch / 8 / tiles / turns},
                         {"blocks", blocks},
                         {"cluster_k_split", 1},
                         {"exchange", 1},
                         {"producer_warps", turns > 2 ? 2 : 1},
                         {"reduce_scatter", 0},
                         {"register_k_tiles", register_k_tiles},
                         {"setmaxnreg", 1},
                         {"split_k", split_k},
                         {"stages", 3},
                         {"steps", 8},
                         {"store_warps", 1},
                         {"poll_delay", 0},
                         {"tiles_in_turn", turns},
                         {"unit_blocks", 1},
                         {"vector", 8}};
  return 1e6 / 512 *
         find_strategy("persistent")
             ->cost_model({cell_named(cell), problem, target::board("h200")})(point)
             .seconds;
}

// A warp that looks for a tile's words waits for the load, whoever else has work meanwhile.
TEST(PersistentModel, TurnsHideThePathOfAStoreAlone) {
  const auto is_near = [](double measured, double predicted) {
    EXPECT_NEAR(predicted, measured, 0.1 * measured);
  };
  is_near(1.138, in_turn("lstm", 768, 16, 48, 1, 1, 4, 12));
  is_near(1.836, in_turn("lstm", 768, 32, 48, 1, 2, 4, 12));
  is_near(3.621, in_turn("lstm", 768, 64, 48, 1, 4, 4, 12));
  is_near(2.392, in_turn("lstm", 768, 64, 32, 1, 2, 4, 8));
  is_near(1.806, in_turn("gru", 768, 32, 48, 1, 2, 4, 12));
  is_near(1.811, in_turn("lstm", 512, 64, 32, 1, 2, 2, 16));
  is_near(2.518, in_turn("lstm", 1024, 32, 64, 1, 2, 4, 16));
}

// Seconds of a forward LSTM, one head of 768 channels, whose blocks exchange vectors through the L2, on an
// H200 of which calibration said this.
double on_board(const target::Floors& floors, kernel::Storage storage = kernel::Storage::BF16) {
  Problem problem;
  problem.storage = storage;
  problem.sizes = {16, 1024, 1, 768};
  const Parameters point{{"accumulators", 2},   {"batch_tiles", 1},     {"batch_tiles_in_flight", 2},
                         {"blocks", 48},        {"cluster_k_split", 1}, {"exchange", 1},
                         {"producer_warps", 1}, {"reduce_scatter", 0},  {"register_k_tiles", 12},
                         {"setmaxnreg", 1},     {"split_k", 4},         {"stages", 3},
                         {"steps", 8},          {"store_warps", 1},     {"poll_delay", 0},
                         {"unit_blocks", 1},    {"vector", 8}};
  target::Profile profile = target::board("h200");
  profile.floors = floors;
  return find_strategy("persistent")->cost_model({cell_named("lstm"), problem, profile})(point).seconds;
}

// A board whose exchange or products take longer than the H200's takes longer for the steps that wait for
// them; where nothing was measured the figures are those that were fitted.
TEST(PersistentModel, StandsOnTheFloorsOfTheBoard) {
  using Of = target::MeasuredFloor::Of;
  const double clock = target::board("h200").speeds.clock_hz;
  const auto floors = [&](double grid, double product) {
    return target::Floors{{{Of::GridExchange, "", 48, 12288, grid * 730e-9, 0},
                           {Of::Product, "mma.m16n8k16.bf16", 1, 0, product * 24.2 / clock, 0}}};
  };
  const double fitted = on_board({});
  EXPECT_NEAR(on_board(floors(1, 1)), fitted, 1e-12);
  EXPECT_NEAR(on_board(floors(1.5, 1)) - fitted, 1024 * 0.5 * 0.55e-6, 1e-9);
  EXPECT_GT(on_board(floors(1, 1.5)), 1.01 * fitted);
  const target::Floors halves{{{Of::Product, "mma.m16n8k16.fp16", 1, 0, 2 * 24.2 / clock, 0}}};
  EXPECT_GT(on_board(halves, kernel::Storage::F16), 1.01 * fitted);
  EXPECT_EQ(on_board(halves), fitted) << "bf16 was not measured";
}

}  // namespace
}  // namespace rondo::schedule
