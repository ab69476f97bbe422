// The warp that follows the carries where blocks split time: what it and the threads that compute rest on,
// piece by piece. A kernel as built is damaged in one place, and the simulator must say so.
#include "compiler/schedule/stream_carry.h"
#include "tests/schedule/stream_damage.h"

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
  static void drop_waits(Kernel& k, const std::string& name) {
    drop<kernel::MbarrierWait>(k, [&](const auto& wait) { return is_named(k, wait.barrier, name); });
  }
};

TEST_P(StreamCarry, HasAWarpOfItsOwn) {
  const AffineLaunch launch = built();
  EXPECT_EQ(launch.launch.kernel.threads, 64);
  expect_clean(launch);
}

TEST_P(StreamCarry, MapsThatAreNotAnnouncedAreADeadlock) {
  expect_reported(
      built(),
      [](Kernel& k) {
        drop<kernel::MbarrierArrive>(
            k, [&](const auto& arrive) { return is_named(k, arrive.barrier, "maps_published"); });
      },
      Fault::Kind::Deadlock, "maps_published");
}

TEST_P(StreamCarry, MapsReadWithoutWaitingAreARace) {
  expect_reported(
      built(), [](Kernel& k) { drop_waits(k, "maps_published"); }, Fault::Kind::Race, "segment_maps[");
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
      built(), [](Kernel& k) { drop_waits(k, "followed"); }, Fault::Kind::Race, "befores[");
}

TEST_P(StreamCarry, WithoutTheBarrierOfTheWalkStagesAreARace) {
  expect_reported(
      built(), [](Kernel& k) { drop<kernel::Barrier>(k); }, Fault::Kind::Race, "_staged[");
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
