// Which plans are timed to say what the time of one is made of.
#include "tuner/bench/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "compiler/schedule/strategies.h"
#include "engine/plan/compile.h"
#include "tests/engine/plan/cells.h"
#include "tests/schedule/part_plans.h"

namespace rondo::tuner {
namespace {

schedule::KernelPlan grid_plan(schedule::Pass pass) {
  return schedule::point_plan(*schedule::find_strategy("persistent"), rondo::testing::library_cell("lstm"),
                              rondo::testing::problem_of(pass),
                              {{"blocks", 4},
                               {"exchange", 1},
                               {"reduce_scatter", 0},
                               {"cluster_k_split", 1},
                               {"setmaxnreg", 0},
                               {"batch_tiles_in_flight", 1},
                               {"split_k", 1},
                               {"unit_blocks", 1},
                               {"batch_tiles", 1},
                               {"register_k_tiles", 1},
                               {"accumulators", 1},
                               {"steps", 4},
                               {"stages", 3},
                               {"vector", 8},
                               {"producer_warps", 1},
                               {"store_warps", 1},
                               {"poll_delay", 0},
                               {"tiles_in_turn", 1},
                               {"gather_fragments", 0}});
}

std::vector<std::string> names(const std::vector<PlanWithout>& plans) {
  std::vector<std::string> result;
  for (const PlanWithout& plan : plans)
    result.push_back(plan.what + (plan.beside.empty() ? "" : " beside " + plan.beside));
  return result;
}

TEST(Parts, OfAGridForward) {
  EXPECT_EQ(names(plans_without(grid_plan(schedule::Pass::Forward))),
            (std::vector<std::string>{"products", "inputs", "stores", "functions", "exchange",
                                      "clears beside exchange", "messages beside clears",
                                      "barriers beside messages", "launch lstm_persistent_fw"}));
}

// Without the launch that marks words as absent the sweep could wait for words that have been and gone.
TEST(Parts, LaunchesOthersWaitForStay) {
  const schedule::KernelPlan plan = grid_plan(schedule::Pass::Backward);
  std::size_t launches = 0;
  for (const PlanWithout& without : plans_without(plan)) {
    if (without.what.rfind("launch ", 0) != 0) continue;
    ++launches;
    EXPECT_EQ(without.plan.launches.size(), plan.launches.size() - 1);
    EXPECT_EQ(without.plan.launches[0].kernel.name, "lstm_clear_exchange");
  }
  EXPECT_EQ(launches, plan.launches.size() - 1);
}

// Of what stream does nothing waits for other blocks; one launch is all of it.
TEST(Parts, OnlyThoseThereAre) {
  const step::Cell cell = rondo::testing::library_cell("mingru");
  const auto found = names(
      plans_without(rondo::testing::stream_plan(cell, rondo::testing::problem_of(schedule::Pass::Forward))));
  EXPECT_EQ(found, (std::vector<std::string>{"inputs", "stores", "functions", "barriers"}));
}

// One thing after the other, each beside all before it: the launch of the steps stays to the end.
TEST(Parts, InTurn) {
  EXPECT_EQ(names(plans_in_turn(grid_plan(schedule::Pass::Forward))),
            (std::vector<std::string>{"stores", "inputs beside stores", "functions beside inputs",
                                      "exchange beside functions", "clears beside exchange",
                                      "products beside clears", "messages beside products",
                                      "barriers beside messages"}));
  const std::vector<PlanWithout> backward = plans_in_turn(grid_plan(schedule::Pass::Backward));
  ASSERT_FALSE(backward.empty());
  EXPECT_EQ(backward.front().what.rfind("launch ", 0), 0U);
  ASSERT_EQ(backward.back().plan.launches.size(), 2U);  // that which others wait for, and the steps
  EXPECT_EQ(backward.back().plan.launches[1].kernel.name, "lstm_persistent_bw");
  EXPECT_EQ(
      names(plans_in_turn(rondo::testing::stream_plan(rondo::testing::library_cell("mingru"),
                                                      rondo::testing::problem_of(schedule::Pass::Forward)))),
      (std::vector<std::string>{"stores", "inputs beside stores", "functions beside inputs",
                                "barriers beside functions"}));
}

// What the device is asked to run ends: no wait is left whose words or phases never come.
TEST(Parts, InTurnAllComeToTheirEnd) {
  using Kind = kernel::Fault::Kind;
  for (const schedule::PartPlan& of : schedule::part_plans())
    for (const PlanWithout& rest : plans_in_turn(of.plan)) {
      kernel::SimulationOptions options;
      options.max_faults = std::numeric_limits<int>::max();
      options.step_limit = 50'000'000;
      const auto ran = schedule::simulate_plan({of.cell, of.problem, {}}, rest.plan,
                                               schedule::values_read(of), 0, options);
      for (std::size_t i = 0; i < ran.kinds.size(); ++i) {
        const Kind kind = ran.kinds[i];
        EXPECT_TRUE(kind == Kind::Race || kind == Kind::Unwritten || kind == Kind::Unset ||
                    kind == Kind::Protocol)
            << of.name << " without " << rest.what << ": " << ran.faults[i];
      }
    }
}

PartTime timed(const std::string& what, double seconds) { return {what, "", {seconds, 0, 1}, 0}; }

// What is saved and what is left make the whole, whatever hides what; what saves nothing has no time.
TEST(Parts, DifferencesInTurnMakeTheWhole) {
  PartTimes times;
  times.whole.median_s = 10;
  times.in_turn = {timed("stores", 9), timed("inputs", 9.5), timed("functions", 4), timed("products", 3)};
  take_in_turn(times.whole.median_s, times.in_turn);
  std::vector<double> differences;
  for (const PartTime& part : times.in_turn) differences.push_back(part.difference_s);
  EXPECT_EQ(differences, (std::vector<double>{1, 0, 5, 1}));
  EXPECT_DOUBLE_EQ(times.rest_s(), 3);
}

// Nobody finds a kernel without a part where the whole one is asked for.
TEST(Parts, HaveKeysOfTheirOwn) {
  const auto cell = std::make_shared<const step::Cell>(rondo::testing::library_cell("lstm"));
  const schedule::Problem problem = rondo::testing::problem_of(schedule::Pass::Forward);
  const schedule::KernelPlan whole = grid_plan(schedule::Pass::Forward);
  const auto key_of = [&](const schedule::KernelPlan& plan) {
    return engine::uncompiled_plan(std::make_shared<const schedule::Task>(*cell, problem, target::board()),
                                   plan, backend::preferred_backend(), "13.0")
        .value()
        .key.hash();
  };
  std::vector<std::string> keys = {key_of(whole)};
  for (const PlanWithout& without : plans_without(whole)) {
    const std::string key = key_of(without.plan);
    EXPECT_EQ(std::count(keys.begin(), keys.end(), key), 0) << without.what;
    keys.push_back(key);
  }
}

}  // namespace
}  // namespace rondo::tuner
