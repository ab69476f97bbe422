// What the cost model of shoot says where a measurement surprised.
#include <gtest/gtest.h>

#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

double seconds(const char* cell, const Problem& problem, const Parameters& point) {
  return find_strategy("shoot")
      ->cost_model({cell_named(cell), problem, target::board("h200")})(point)
      .seconds;
}

double predicted(int dim, int exchange) {
  Problem problem;
  problem.sizes = {1, 8192, 1, dim};
  problem.storage = kernel::Storage::F32;
  problem.math = kernel::Math::Accurate;
  const Parameters team{{"channels", 32},       {"per_thread", 1},    {"segments", 7},   {"time_split", 4},
                        {"exchange", exchange}, {"steps", 16},        {"stages", 2},     {"unroll", 8},
                        {"vector", 4},          {"warmup", 64},       {"newton", 0},     {"sweeps", 2},
                        {"rewrite", 0},         {"stream_stores", 0}, {"keep_inputs", 0}};
  return seconds("paralstm", problem, team);
}

// In bf16, one batch row; blocks that split time exchange through global memory.
double predicted(const char* cell, std::int64_t time, std::int64_t dim, int channels, int segments,
                 int time_split, int newton) {
  Problem problem;
  problem.sizes = {1, time, 1, dim};
  return seconds(cell, problem,
                 {{"channels", channels},
                  {"per_thread", 1},
                  {"segments", segments},
                  {"time_split", time_split},
                  {"exchange", 1},
                  {"steps", 32},
                  {"stages", 2},
                  {"unroll", 8},
                  {"vector", 8},
                  {"warmup", 64},
                  {"newton", newton},
                  {"sweeps", 2 + newton},
                  {"rewrite", 0},
                  {"keep_inputs", 0},
                  {"stream_stores", 0}});
}

// An H200 has room for 31 clusters of four with an SM for each block. The 32nd shares SMs, and its blocks and
// theirs take twice as long: 84 us were measured where blocks that exchange through global memory take 54.
TEST(ShootModel, AClusterTooManySharesSms) {
  EXPECT_LT(predicted(31 * 32, 0), predicted(31 * 32, 1));
  EXPECT_GT(predicted(32 * 32, 0), predicted(32 * 32, 1));
}

// The more warps, the slower: their rings crowd the L2 (paragru 1 x 1024, T=131072, in h200-shoot-map.json).
TEST(ShootModel, MoreWarpsThanTheL2HasRoomForAreSlower) {
  const double few = predicted("paragru", 131072, 1024, 64, 4, 8, 0);
  const double more = predicted("paragru", 131072, 1024, 64, 7, 8, 0);
  const double most = predicted("paragru", 131072, 1024, 32, 15, 4, 0);
  EXPECT_LT(few, more);
  EXPECT_LT(more, most);
  EXPECT_NEAR(few / 312.2e-6, 1, 0.25);
  EXPECT_NEAR(more / 364.0e-6, 1, 0.25);
  EXPECT_NEAR(most / 417.2e-6, 1, 0.25);
}

// mingru of 64 channels, T of 1M: 235 us by shoot, which a warm-up spares the second sweep, 463 by stream's
// best.
TEST(ShootModel, AWarmUpMaySpareAnAffineCellItsSecondSweep) {
  Problem problem;
  problem.sizes = {1, 1 << 20, 1, 64};
  const double shoot = predicted("mingru", 1 << 20, 64, 32, 15, 16, 1);
  const Parameters stream{{"channels", 8},      {"per_thread", 2},        {"segments", 16},
                          {"time_split", 16},   {"exchange", 1},          {"steps", 256},
                          {"stages", 4},        {"unroll", 16},           {"pipeline_depth", 2},
                          {"vector", 8},        {"producer_warps", 0},    {"rewrite", 2},
                          {"stream_stores", 0}, {"interleaved_copies", 0}};
  const CostModel model =
      find_strategy("stream")->cost_model({cell_named("mingru"), problem, target::board("h200")});
  EXPECT_LT(shoot, model(stream).seconds);
  EXPECT_GT(shoot, 235e-6) << "the user's cell may remember longer";
}

// 2048 steps of 64 channels in fp32 took three sweeps from zero (H200), where 16 bits take two.
TEST(ShootModel, AnAccurateGuessFromZeroTakesASweepMore) {
  Problem problem;
  problem.sizes = {1, 2048, 1, 64};
  problem.storage = kernel::Storage::F32;
  const Parameters point{{"channels", 32}, {"per_thread", 1},    {"segments", 7},   {"time_split", 16},
                         {"exchange", 0},  {"steps", 16},        {"stages", 2},     {"unroll", 8},
                         {"vector", 4},    {"warmup", 0},        {"newton", 1},     {"sweeps", 3},
                         {"rewrite", 0},   {"stream_stores", 0}, {"keep_inputs", 0}};
  problem.math = kernel::Math::Fast;
  const double fast = seconds("paragru", problem, point);
  problem.math = kernel::Math::Accurate;
  EXPECT_GT(seconds("paragru", problem, point), 1.1 * fast);
}

// What is measured beside the same points (h200-shoot-kept.json): a launch for each round is dearer, and
// inputs that stay in shared memory are cheaper where segments sweep twice.
TEST(ShootModel, LaunchesCostAndKeptInputsGainALittle) {
  Problem problem;
  problem.sizes = {1, 2048, 1, 1024};
  Parameters point{{"channels", 32}, {"per_thread", 1},    {"segments", 8},   {"time_split", 2},
                   {"exchange", 1},  {"steps", 32},        {"stages", 4},     {"unroll", 8},
                   {"vector", 8},    {"warmup", 0},        {"newton", 1},     {"sweeps", 2},
                   {"rewrite", 0},   {"stream_stores", 0}, {"keep_inputs", 0}};
  const double usual = seconds("paragru", problem, point);
  point["keep_inputs"] = 1;
  EXPECT_LT(seconds("paragru", problem, point), 1.02 * usual);
  point["keep_inputs"] = 0;
  point["exchange"] = 2;
  EXPECT_GT(seconds("paragru", problem, point), 1.09 * usual);
}

}  // namespace
}  // namespace rondo::schedule
