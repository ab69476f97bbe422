// What the cost model of shoot says where a measurement surprised.
#include <gtest/gtest.h>

#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

double predicted(int dim, int exchange) {
  Problem problem;
  problem.sizes = {1, 8192, 1, dim};
  problem.storage = kernel::Storage::F32;
  problem.math = kernel::Math::Accurate;
  const Strategy& shoot = *find_strategy("shoot");
  const Parameters team{{"channels", 32},       {"per_thread", 1},   {"segments", 7}, {"time_split", 4},
                        {"exchange", exchange}, {"steps", 16},       {"stages", 2},   {"unroll", 8},
                        {"vector", 4},          {"warmup", 64},      {"newton", 0},   {"sweeps", 2},
                        {"rewrite", 0},         {"stream_stores", 0}};
  return shoot.cost_model(cell_named("paralstm"), problem, target::board("h200"))(team).seconds;
}

// An H200 has room for 31 clusters of four with an SM for each block. The 32nd shares SMs, and its blocks and
// theirs take twice as long: 84 us were measured where blocks that exchange through global memory take 54.
TEST(ShootModel, AClusterTooManySharesSms) {
  EXPECT_LT(predicted(31 * 32, 0), predicted(31 * 32, 1));
  EXPECT_GT(predicted(32 * 32, 0), predicted(32 * 32, 1));
}

}  // namespace
}  // namespace rondo::schedule
