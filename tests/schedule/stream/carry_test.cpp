// The warp that follows the carries where blocks split time: what it and the threads that compute rest on,
// piece by piece. A kernel as built is damaged in one place, and the simulator must say so.
#include "compiler/schedule/stream/carry.h"
#include "tests/schedule/stream/damage.h"

namespace rondo::schedule {
namespace {

struct Form {
  std::string name;
  int grid = 0, behind = 0;
};

class StreamCarry : public ::testing::TestWithParam<Form> {
 protected:
  static AffineLaunch built() {
    Parameters parameters = stream_in_cluster_of_two(8, true);
    parameters["grid"] = GetParam().grid;
    parameters["behind"] = GetParam().behind;
    return affine_launch(parameters);
  }
  static void drop_published(Kernel& k, bool waits) {
    drop<kernel::Barrier>(k,
                          [&](const auto& met) { return met.id >= kPublishedBarrier && met.waits == waits; });
  }
};

TEST_P(StreamCarry, HasAWarpOfItsOwn) {
  const AffineLaunch launch = built();
  EXPECT_EQ(launch.launch.kernel.threads, 64);
  expect_clean(launch);
}

TEST_P(StreamCarry, MapsThatAreNotAnnouncedAreADeadlock) {
  expect_reported(
      built(), [](Kernel& k) { drop_published(k, false); }, Fault::Kind::Deadlock, "barrier 2 for");
}

TEST_P(StreamCarry, MapsReadWithoutWaitingAreARace) {
  expect_reported(
      built(), [](Kernel& k) { drop_published(k, true), drop_published(k, false); }, Fault::Kind::Race,
      "segment_maps[");
}

// At one barrier for all rounds a thread may announce round 1 before the warp has come for round 0.
TEST_P(StreamCarry, OneBarrierIsTooFewWhereTwoRoundsAreUnderWay) {
  const auto one_barrier = [](Kernel& k) {
    each<kernel::Barrier>(k, [](auto& met) {
      if (met.id == kPublishedBarrier + 1) met.id = kPublishedBarrier;
    });
  };
  if (GetParam().behind != 0)
    return expect_reported(built(), one_barrier, Fault::Kind::Protocol, "barrier 2 for turn 1");
  const AffineLaunch launch = built();
  Kernel changed = launch.launch.kernel;
  one_barrier(changed);
  EXPECT_TRUE(run(launch, changed).faults.empty());
}

TEST_P(StreamCarry, StartsThatAreNotAnnouncedAreADeadlock) {
  expect_reported(
      built(),
      [](Kernel& k) {
        drop<kernel::MbarrierArrive>(
            k, [&](const auto& arrive) { return is_named(k, arrive.barrier, "followed"); });
      },
      Fault::Kind::Deadlock, "followed");
}

TEST_P(StreamCarry, StartsReadWithoutWaitingAreARace) {
  expect_reported(
      built(),
      [](Kernel& k) {
        drop<kernel::MbarrierWait>(k,
                                   [&](const auto& wait) { return is_named(k, wait.barrier, "followed"); });
      },
      Fault::Kind::Race, "befores[");
}

TEST_P(StreamCarry, WithoutTheBarrierOfTheWalkStagesAreARace) {
  expect_reported(
      built(),
      [](Kernel& k) { drop<kernel::Barrier>(k, [](const auto& met) { return met.id == kWalkBarrier; }); },
      Fault::Kind::Race, "_staged[");
}

// Only where a round is finished in the next are two rounds under way.
TEST_P(StreamCarry, OneSlotIsARaceWhereTwoRoundsAreUnderWay) {
  for (const std::string array : {"segment_maps", "befores"}) {
    const auto one_slot = [&](Kernel& k) {
      each_access(k, array, [&](ExprId& index) { index = without_turns(k, index, CarryWarp::kSlots); });
    };
    if (GetParam().behind != 0) {
      expect_reported(built(), one_slot, Fault::Kind::Race, array + "[");
      continue;
    }
    const AffineLaunch launch = built();
    Kernel changed = launch.launch.kernel;
    one_slot(changed);
    EXPECT_TRUE(run(launch, changed).faults.empty()) << array;
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, StreamCarry,
                         ::testing::Values(Form{"cluster", 0, 0}, Form{"cluster_behind", 0, 1},
                                           Form{"grid", 1, 0}, Form{"grid_behind", 1, 1}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rondo::schedule
