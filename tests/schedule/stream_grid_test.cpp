// stream among blocks of the grid: what the exchange of maps through global memory rests on, piece by piece.
// A kernel as built is damaged in one place, and the simulator must say so.
#include "compiler/schedule/stream_grid.h"
#include "compiler/schedule/stream.h"
#include "tests/schedule/stream_damage.h"

namespace rondo::schedule {
namespace {

Parameters in_grid_parameters() {
  Parameters parameters = stream_in_cluster_of_two(8, true);
  parameters["grid"] = 1;
  parameters["segments"] = 4, parameters["steps"] = 16;  // a whole warp computes
  return parameters;
}

AffineLaunch in_grid() { return affine_launch(in_grid_parameters()); }

bool is_shared(const kernel::MemRef& memory) { return memory.space == kernel::Space::Shared; }

TEST(StreamGrid, IsCleanAsBuilt) {
  const AffineLaunch built = in_grid();
  EXPECT_TRUE(built.launch.kernel.cooperative);
  EXPECT_EQ(built.launch.kernel.threads, 64);
  const auto faults = run(built, built.launch.kernel).faults;
  EXPECT_TRUE(faults.empty()) << faults.front().message;
}

TEST(StreamGrid, AMapThatIsNotSentIsADeadlock) {
  expect_reported(
      in_grid(), [](Kernel& k) { drop<kernel::StoreFlagged>(k); }, Fault::Kind::Deadlock, "exchange[");
}

TEST(StreamGrid, AMapThatIsNotAnnouncedIsADeadlock) {
  expect_reported(
      in_grid(), [](Kernel& k) { drop<kernel::MbarrierArrive>(k); }, Fault::Kind::Deadlock, "maps_ready");
}

TEST(StreamGrid, MapsReadWithoutWaitingAreARace) {
  expect_reported(
      in_grid(), [](Kernel& k) { drop<kernel::MbarrierWait>(k); }, Fault::Kind::Race, "block_maps[");
}

// Each lane that brings maps knows only of the blocks whose words it has read.
TEST(StreamGrid, LanesThatDoNotWaitForEachOtherAreARace) {
  expect_reported(
      in_grid(), [](Kernel& k) { drop<kernel::WarpSync>(k); }, Fault::Kind::Race, "block_maps[");
}

TEST(StreamGrid, OneSlotIsARace) {
  expect_reported(
      in_grid(),
      [](Kernel& k) {
        each<kernel::Store>(k, [&](auto& store) {
          if (is_shared(store.to)) store.to.index = without_turns(k, store.to.index, GridMaps::kSlots);
        });
        each<kernel::Load>(k, [&](auto& load) {
          if (is_shared(load.from) && k.shared[static_cast<std::size_t>(load.from.id)].name == "block_maps")
            load.from.index = without_turns(k, load.from.index, GridMaps::kSlots);
        });
      },
      Fault::Kind::Race, "block_maps[");
}

// What a launch before has left looks as if it had come.
TEST(StreamGrid, WordsAreClearedBeforeTheyAreSent) {
  Problem problem;
  problem.sizes = {3, kTime, 1, kDim};
  const KernelPlan plan = find_strategy("stream")->build(cell_named("affine"), problem, in_grid_parameters());
  ASSERT_EQ(plan.launches.size(), 2U);
  EXPECT_EQ(plan.launches[0].kernel.name, "affine_clear_exchange");
  // 7 batch rows, in rounds of two blocks and 16 steps; a pair of entries for each block and channel.
  EXPECT_EQ(plan.exchange.elements(7, kTime), 7 * 4 * (2 * kDim * 2));
  EXPECT_EQ(grid_blocks(plan.launches[0], 7, kTime), 7 * 4);
  // Three batch rows at once, for that is what the choice was made for.
  const std::vector<LaunchPart> parts = launch_parts(plan.launches[1], 7, kTime);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[2].first_tile, 6);
  EXPECT_EQ(parts[2].blocks, 2);
}

}  // namespace
}  // namespace rondo::schedule
