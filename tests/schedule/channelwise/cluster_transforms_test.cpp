// stream in clusters of blocks: what the exchange of maps rests on, piece by piece. A kernel as built is
// damaged in one place, and the simulator must say so.
#include "compiler/schedule/channelwise/cluster_transforms.h"
#include "compiler/schedule/strategies.h"
#include "compiler/schedule/stream/strategy.h"
#include "tests/schedule/point_plan.h"
#include "tests/schedule/stream/damage.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

AffineLaunch in_cluster() { return affine_launch(stream_in_cluster_of_two(8, true)); }

// The scan warp's mbarrier for the other blocks' transforms.
constexpr const char* kMapsReady = "maps_ready";

TEST(StreamCluster, IsCleanAsBuilt) {
  const AffineLaunch built = in_cluster();
  EXPECT_EQ(built.launch.kernel.cluster, 2);
  expect_clean(built);
}

TEST(StreamCluster, AMapThatIsNotSentIsADeadlock) {
  expect_reported(
      in_cluster(), [](Kernel& k) { drop<kernel::StoreAsync>(k); }, Fault::Kind::Deadlock,
      "128 bytes are still expected");
}

TEST(StreamCluster, AMapSentToOneBlockOnlyIsADeadlock) {
  expect_reported(
      in_cluster(),
      [](Kernel& k) { each<kernel::StoreAsync>(k, [&](auto& send) { send.rank = constant(k, 0); }); },
      Fault::Kind::Deadlock, "bytes are still expected");
}

TEST(StreamCluster, BytesThatNobodyExpectsAreADeadlock) {
  expect_reported(
      in_cluster(), [](Kernel& k) { drop<kernel::MbarrierExpect>(k); }, Fault::Kind::Deadlock,
      "bytes came that nobody expects");
}

TEST(StreamCluster, MapsReadWithoutWaitingAreARace) {
  expect_reported(
      in_cluster(),
      [](Kernel& k) {
        drop<kernel::MbarrierWait>(k,
                                   [&](const auto& wait) { return is_named(k, wait.barrier, kMapsReady); });
      },
      Fault::Kind::Race, "with no wait for its mbarrier between");
}

TEST(StreamCluster, AWaitForTheOtherParityIsADeadlock) {
  expect_reported(
      in_cluster(),
      [](Kernel& k) {
        each<kernel::MbarrierWait>(k, [&](auto& wait) {
          if (is_named(k, wait.barrier, kMapsReady)) wait.parity = constant(k, 1);
        });
      },
      Fault::Kind::Deadlock, "waits for phase parity 1 of mbarrier maps_ready");
}

TEST(StreamCluster, OneSlotIsARace) {
  expect_reported(
      in_cluster(),
      [](Kernel& k) {
        int maps = -1;
        each<kernel::StoreAsync>(k, [&](auto& send) {
          maps = send.to.id;
          send.to.index = without_turns(k, send.to.index, ClusterTransforms::slots(true));
        });
        each<kernel::Load>(k, [&](auto& load) {
          if (load.from.space == kernel::Space::Shared && load.from.id == maps)
            load.from.index = without_turns(k, load.from.index, ClusterTransforms::slots(true));
        });
      },
      Fault::Kind::Race, "sends to shared cluster_maps[");
}

// A sweep adds the output's gradient to the carry before anything else: what follows are multiples of the
// sum.
TEST(StreamSegments, BackwardSweepsKeepTheSumsTermAndAFactorAResult) {
  Problem problem;
  problem.pass = Pass::Backward;
  // a and its gradient's factor h, and the output's gradient; b's is the sum itself, by the constant 1.
  EXPECT_EQ(segment_parts({cell_named("affine"), problem, {}}), 4);
  // f, two factors of x's gradients, that of low's, and the output's gradient.
  EXPECT_EQ(segment_parts({cell_named("hgrn"), problem, {}}), 5);
}

TEST(StreamCluster, ParameterGradientsHaveARowABlock) {
  Problem problem;
  problem.sizes = {3, 40, 2, 8};
  problem.pass = Pass::Backward;
  Parameters parameters = {{"channels", 8},       {"per_thread", 1},    {"steps", 16},
                           {"stages", 2},         {"unroll", 4},        {"vector", 8},
                           {"producer_warps", 0}, {"rewrite", 0},       {"segments", 4},
                           {"time_split", 1},     {"stream_stores", 0}, {"interleaved_copies", 0},
                           {"pipeline_depth", 1}, {"exchange", 0}};
  const KernelPlan alone =
      schedule::point_plan(*find_strategy("stream"), cell_named("paralstm"), problem, parameters);
  parameters["time_split"] = 4;
  const KernelPlan shared =
      schedule::point_plan(*find_strategy("stream"), cell_named("paralstm"), problem, parameters);
  EXPECT_GT(alone.workspace_elements_per_batch, 0);
  EXPECT_EQ(shared.workspace_elements_per_batch, 4 * alone.workspace_elements_per_batch);
  EXPECT_EQ(grid_blocks(shared.launches[0], 3, 40), 4 * grid_blocks(alone.launches[0], 3, 40));
}

}  // namespace
}  // namespace rondo::schedule
