// What a time is made of adds up to it, and names the part that was made slower.
#include "tuner/why/account.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "compiler/schedule/plan/simulate_plan.h"
#include "tests/schedule/part_plans.h"

namespace rondo::tuner {
namespace {

using schedule::EstimatePart;
using schedule::KernelPlan;
using schedule::PartPlan;

// The simulator's clock: a nanosecond for each statement that a warp executes.
double simulated_s(const PartPlan& of, const KernelPlan& plan) {
  kernel::SimulationOptions options;
  options.max_faults = std::numeric_limits<int>::max();
  const auto ran =
      schedule::simulate_plan({of.cell, of.problem, {}}, plan, schedule::values_read(of), 0, options);
  return static_cast<double>(ran.steps) * 1e-9;
}

PartTimes simulated_times(const PartPlan& of, const KernelPlan& plan) {
  PartTimes times;
  times.whole = {simulated_s(of, plan), 0, 1};
  for (const PlanWithout& without : plans_in_turn(plan))
    times.in_turn.push_back({without.what, without.beside, {simulated_s(of, without.plan), 0, 1}, 0});
  take_in_turn(times.whole.median_s, times.in_turn);
  return times;
}

double of_part(const Account& account, const std::string& name) {
  const auto found = std::ranges::find(account.parts, name, &AccountPart::name);
  return found == account.parts.end() ? 0 : found->seconds;
}

double sum_of(const Account& account) {
  double sum = account.not_explained_s - account.overlapped_s;
  for (const AccountPart& part : account.parts) {
    EXPECT_GE(part.seconds, 0) << part.name;
    sum += part.seconds;
  }
  return sum;
}

// Puts more barriers behind each at which warps wait in a loop: named ones of one warp, which whoever comes
// there passes.
int plant_barriers(kernel::Body& body, bool repeated, int count) {
  int planted = 0;
  kernel::Body more;
  for (kernel::Stmt& stmt : body) {
    if (auto* loop = std::get_if<kernel::For>(&stmt.node))
      planted += plant_barriers(loop->body, repeated || loop->unroll != kernel::kFullUnroll, count);
    if (auto* branch = std::get_if<kernel::If>(&stmt.node))
      planted += plant_barriers(branch->then_body, repeated, count) +
                 plant_barriers(branch->else_body, repeated, count);
    const auto* barrier = std::get_if<kernel::Barrier>(&stmt.node);
    const bool here = barrier != nullptr && barrier->waits && repeated;
    more.push_back(std::move(stmt));
    for (int i = 0; here && i < count; ++i, ++planted) more.push_back({kernel::Barrier{15, 32, true}});
  }
  body = std::move(more);
  return planted;
}

PartPlan grid_of_2() {
  for (PartPlan& plan : schedule::part_plans())
    if (plan.name == "grid_of_2") return std::move(plan);
  throw std::logic_error("no such plan");
}

TEST(Account, NamesPlantedBarriers) {
  const PartPlan of = grid_of_2();
  KernelPlan slower = of.plan;
  int planted = 0;
  for (schedule::Launch& launch : slower.launches) planted += plant_barriers(launch.kernel.body, false, 40);
  ASSERT_GT(planted, 0);
  const Account before = account_of(simulated_times(of, of.plan), {}, 0);
  const PartTimes times = simulated_times(of, slower);
  const Account after = account_of(times, {}, 0);
  EXPECT_NEAR(sum_of(after), times.whole.median_s, 1e-12);
  const double more = times.whole.median_s - sum_of(before);
  ASSERT_GT(more, 0.2 * sum_of(before)) << "the fault is too small to be seen";
  EXPECT_GT(of_part(after, "barriers") - of_part(before, "barriers"), 0.9 * more);
  for (const AccountPart& part : after.parts)
    EXPECT_TRUE(part.name == "barriers" || part.seconds - of_part(before, part.name) < 0.1 * more)
        << part.name;
  const std::vector<Excess> above = excesses(after, {}, {});
  ASSERT_FALSE(above.empty());
  EXPECT_EQ(above.front().name, "barriers");
}

TEST(Account, OfEveryFormAddsUp) {
  for (const PartPlan& of : schedule::part_plans()) {
    if (of.name.find("reduce_scatter") != std::string::npos && of.name != "reduce_scatter_in_grid") continue;
    const PartTimes times = simulated_times(of, of.plan);
    const Account account = account_of(times, {}, 0);
    EXPECT_NEAR(sum_of(account), times.whole.median_s, 1e-12) << of.name;
    EXPECT_LT(account.not_explained_s, times.whole.median_s) << of.name;
  }
}

PartTime in_turn(const std::string& what, double seconds) { return {what, "", {seconds, 0, 1}, 0}; }

// What is left when all is left out: launches, then what a floor still asks for, then nothing that is known.
TEST(Account, TheRestIsExplainedByLaunchesAndTheHighestFloor) {
  PartTimes times;
  times.whole.median_s = 10;
  times.in_turn = {in_turn("stores", 9), in_turn("inputs", 8)};
  times.parts = {{"stores", "", {}, 0.5}, {"inputs", "", {}, -1}};
  take_in_turn(10, times.in_turn);
  const std::vector<Floor> floors = {{"bytes", 7, 1, "", false}, {"chain", 3, 1, "", false}};
  const Account account = account_of(times, floors, 1);
  EXPECT_DOUBLE_EQ(sum_of(account), 10);
  EXPECT_DOUBLE_EQ(of_part(account, "launches and first loads"), 1);
  EXPECT_DOUBLE_EQ(of_part(account, "the rest of the floor of bytes"), 5);
  ASSERT_NE(account.by_floor_alone(), nullptr);
  EXPECT_DOUBLE_EQ(account.by_floor_alone()->seconds, 5);
  EXPECT_EQ(account_of(times, {}, 1).by_floor_alone(), nullptr);
  EXPECT_DOUBLE_EQ(account.not_explained_s, 2);
  EXPECT_DOUBLE_EQ(account.hidden_alone_s, 1.5);
  // Bytes that hide behind the chain explain nothing of the time.
  const Account hidden = account_of(times, {{"chain", 8, 1, "", false}, {"bytes", 7, 1, "", false}}, 1);
  EXPECT_EQ(of_part(hidden, "the rest of the floor of bytes"), 0);
  EXPECT_DOUBLE_EQ(of_part(hidden, "the rest of the floor of chain"), 7);
  const Account full = account_of(times, {{"bytes", 70, 1, "", false}}, 1);
  EXPECT_DOUBLE_EQ(sum_of(full), 10);
  EXPECT_DOUBLE_EQ(full.not_explained_s, 0);
}

TEST(Account, OfTheModelTellsWhatHidesWhat) {
  using Of = EstimatePart::Of;
  const std::vector<EstimatePart> parts = {
      {Of::Chain, "exchange", 6}, {Of::Work, "memory", 5}, {Of::Chain, "hidden behind each other", -1}};
  const Account more = account_of(parts, 8);
  EXPECT_DOUBLE_EQ(sum_of(more), 8);
  EXPECT_DOUBLE_EQ(more.overlapped_s, 3);
  const Account fewer = account_of(parts, 12);
  EXPECT_DOUBLE_EQ(sum_of(fewer), 12);
  EXPECT_DOUBLE_EQ(fewer.not_explained_s, 1);
}

TEST(Account, ExcessesStandAboveFloors) {
  Account account;
  account.parts = {{"stores", 2},   {"inputs", 1},   {"exchange", 3},
                   {"messages", 2}, {"products", 4}, {"barriers", 1}};
  const std::vector<EstimatePart> chain = {{EstimatePart::Of::Chain, "exchange", 4},
                                           {EstimatePart::Of::Chain, "products", 5}};
  const std::vector<Excess> above = excesses(account, chain, {{"chain", 9, 1, "", true}});
  ASSERT_EQ(above.size(), 3U);
  EXPECT_EQ(above[0].name, "memory");
  EXPECT_DOUBLE_EQ(above[0].above_s(), 3);
  EXPECT_EQ(above[1].name, "exchange");
  EXPECT_DOUBLE_EQ(above[1].above_s(), 1);
  EXPECT_EQ(above[2].name, "barriers");
  EXPECT_EQ(excesses(account, chain, {{"bytes", 9, 1, "", true}}).front().name, "exchange");
}

}  // namespace
}  // namespace rondo::tuner
