// stream among blocks of the grid: what the exchange of maps through global memory rests on.
#include "compiler/schedule/channelwise/global_transforms.h"
#include "compiler/schedule/strategies.h"
#include "compiler/schedule/stream/strategy.h"
#include "tests/schedule/point_plan.h"
#include "tests/schedule/stream/damage.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

Parameters in_grid() {
  Parameters parameters = stream_in_cluster_of_two(8, true);
  parameters["exchange"] = 1;
  return parameters;
}

TEST(StreamGlobal, IsCleanAsBuilt) {
  const AffineLaunch built = affine_launch(in_grid());
  EXPECT_TRUE(built.launch.kernel.cooperative);
  expect_clean(built);
}

TEST(StreamGlobal, AMapThatIsNotSentIsADeadlock) {
  expect_reported(
      affine_launch(in_grid()), [](Kernel& k) { drop<kernel::StoreSelfFlagged>(k); }, Fault::Kind::Deadlock,
      "exchange[");
}

// What a launch before has left looks as if it had come.
TEST(StreamGlobal, WordsAreClearedBeforeTheyAreSent) {
  Problem problem;
  problem.sizes = {3, kTime, 1, kDim};
  const KernelPlan plan =
      schedule::point_plan(*find_strategy("stream"), cell_named("affine"), problem, in_grid());
  ASSERT_EQ(plan.launches.size(), 2U);
  EXPECT_EQ(plan.launches[0].kernel.name, "affine_clear_exchange");
  // 7 batch rows, in rounds of two blocks and 16 steps; a pair of entries for each block and channel.
  EXPECT_EQ(plan.exchange.at(7, kTime), 7 * 4 * (2 * kDim * 2));
  EXPECT_EQ(grid_blocks(plan.launches[0], 7, kTime), 7 * 4);
  // Three batch rows at once, for that is what the choice was made for.
  EXPECT_EQ(plan.launches[1].tiles_together, 3);
  EXPECT_EQ(grid_blocks(plan.launches[1], 1, kTime), 2);
}

}  // namespace
}  // namespace rondo::schedule
