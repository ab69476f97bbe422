// The scan warp where blocks split time: what it and the threads that compute rest on,
// piece by piece. A kernel as built is damaged in one place, and the simulator must say so.
#include "compiler/schedule/channelwise/scan_warp.h"
#include "tests/schedule/stream/damage.h"

namespace rondo::schedule {
namespace {

struct Team {
  std::string name;
  int exchange = 0, pipeline_depth = 1;
};

class StreamScanWarp : public ::testing::TestWithParam<Team> {
 protected:
  static AffineLaunch built() {
    Parameters parameters = stream_in_cluster_of_two(8, true);
    parameters["exchange"] = GetParam().exchange;
    parameters["pipeline_depth"] = GetParam().pipeline_depth;
    return affine_launch(parameters);
  }
  static void drop_published(Kernel& k, bool waits) {
    drop<kernel::Barrier>(k,
                          [&](const auto& met) { return met.id >= kPublishedBarrier && met.waits == waits; });
  }
};

TEST_P(StreamScanWarp, HasAWarpOfItsOwn) {
  const AffineLaunch launch = built();
  EXPECT_EQ(launch.launch.kernel.threads, 64);
  expect_clean(launch);
}

TEST_P(StreamScanWarp, MapsThatAreNotAnnouncedAreADeadlock) {
  expect_reported(
      built(), [](Kernel& k) { drop_published(k, false); }, Fault::Kind::Deadlock, "barrier 2 for");
}

TEST_P(StreamScanWarp, MapsReadWithoutWaitingAreARace) {
  expect_reported(
      built(), [](Kernel& k) { drop_published(k, true), drop_published(k, false); }, Fault::Kind::Race,
      "segment_maps[");
}

// At one barrier for all rounds a thread may announce round 1 before the warp has come for round 0.
TEST_P(StreamScanWarp, OneBarrierIsTooFewWhereTwoRoundsAreUnderWay) {
  const auto one_barrier = [](Kernel& k) {
    each<kernel::Barrier>(k, [](auto& met) {
      if (met.id == kPublishedBarrier + 1) met.id = kPublishedBarrier;
    });
  };
  if (GetParam().pipeline_depth > 1)
    return expect_reported(built(), one_barrier, Fault::Kind::Protocol, "barrier 2 for turn 1");
  const AffineLaunch launch = built();
  Kernel changed = launch.launch.kernel;
  one_barrier(changed);
  EXPECT_TRUE(run(launch, changed).faults.empty());
}

TEST_P(StreamScanWarp, StartsThatAreNotAnnouncedAreADeadlock) {
  expect_reported(
      built(),
      [](Kernel& k) {
        drop<kernel::MbarrierArrive>(
            k, [&](const auto& arrive) { return is_named(k, arrive.barrier, "followed"); });
      },
      Fault::Kind::Deadlock, "followed");
}

TEST_P(StreamScanWarp, StartsReadWithoutWaitingAreARace) {
  expect_reported(
      built(),
      [](Kernel& k) {
        drop<kernel::MbarrierWait>(k,
                                   [&](const auto& wait) { return is_named(k, wait.barrier, "followed"); });
      },
      Fault::Kind::Race, "befores[");
}

TEST_P(StreamScanWarp, WithoutTheBarrierOfTheWalkStagesAreARace) {
  expect_reported(
      built(),
      [](Kernel& k) { drop<kernel::Barrier>(k, [](const auto& met) { return met.id == kWalkBarrier; }); },
      Fault::Kind::Race, "_staged[");
}

// Only where a round is finished in the next are two rounds under way.
TEST_P(StreamScanWarp, OneSlotIsARaceWhereTwoRoundsAreUnderWay) {
  for (const std::string array : {"segment_maps", "befores"}) {
    const auto one_slot = [&](Kernel& k) {
      each_access(k, array, [&](ExprId& index) { index = without_turns(k, index, ScanWarp::kSlots); });
    };
    if (GetParam().pipeline_depth > 1) {
      expect_reported(built(), one_slot, Fault::Kind::Race, array + "[");
      continue;
    }
    const AffineLaunch launch = built();
    Kernel changed = launch.launch.kernel;
    one_slot(changed);
    EXPECT_TRUE(run(launch, changed).faults.empty()) << array;
  }
}

INSTANTIATE_TEST_SUITE_P(Teams, StreamScanWarp,
                         ::testing::Values(Team{"cluster", 0, 1}, Team{"cluster_pipelined", 0, 2},
                                           Team{"global", 1, 1}, Team{"global_pipelined", 1, 2}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rondo::schedule
