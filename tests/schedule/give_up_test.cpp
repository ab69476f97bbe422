// A block that never sends: the others do not wait for it forever, and the launch says so.
#include <gtest/gtest.h>

#include "tests/schedule/part_plans.h"
#include "tests/schedule/silent_block.h"

namespace rondo::schedule {
namespace {

SimulatedRun run(const PartPlan& of, const KernelPlan& plan, bool give_up) {
  kernel::SimulationOptions options;
  options.give_up = give_up;
  options.step_limit = 50'000'000;
  return simulate_plan({of.cell, of.problem, {}}, plan, values_read(of), 0, options);
}

class GiveUp : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (PartPlan& plan : part_plans())
      if (plan.name == GetParam()) of_ = std::move(plan);
    silent_ = of_.plan;
    ASSERT_GT(silence_block(silent_), 0);
  }
  PartPlan of_;
  KernelPlan silent_;
};

TEST_P(GiveUp, WaitingInVainIsADeadlock) {
  const SimulatedRun ran = run(of_, silent_, false);
  EXPECT_FALSE(ran.gave_up);
  ASSERT_FALSE(ran.kinds.empty());
  EXPECT_EQ(ran.kinds[0], kernel::Fault::Kind::Deadlock) << ran.faults[0];
}

TEST_P(GiveUp, TheLaunchEndsWithAStatus) {
  const SimulatedRun ran = run(of_, silent_, true);
  EXPECT_TRUE(ran.gave_up);
  EXPECT_TRUE(ran.faults.empty()) << ran.faults.front();
  EXPECT_TRUE(ran.unwritten.empty()) << "not all of " << ran.unwritten.front()
                                     << ": it did not come to its end";
}

TEST_P(GiveUp, NobodyGivesUpWhereAllSend) {
  const SimulatedRun ran = run(of_, of_.plan, true);
  EXPECT_FALSE(ran.gave_up);
  EXPECT_TRUE(ran.faults.empty()) << ran.faults.front();
}

INSTANTIATE_TEST_SUITE_P(Plans, GiveUp,
                         ::testing::Values("cluster_of_4", "grid_of_2", "tiles_in_turn",
                                           "fragments_in_grid_of_8", "reduce_scatter_in_cluster",
                                           "reduce_scatter_in_grid", "reduce_scatter_in_grid_of_clusters",
                                           "stream_cluster", "stream_grid", "head_in_cluster"),
                         [](const auto& test) { return test.param; });

// Every kernel whose threads wait for mbarriers or flags has a status; no other pays for one.
TEST(Status, OfKernelsThatWait) {
  for (const PartPlan& of : part_plans())
    for (const Launch& launch : of.plan.launches) {
      const bool waits = !launch.kernel.mbarriers.empty() || launch.kernel.cooperative;
      EXPECT_EQ(launch.kernel.status >= 0, waits) << of.name << ": " << launch.kernel.name;
    }
}

}  // namespace
}  // namespace rondo::schedule
