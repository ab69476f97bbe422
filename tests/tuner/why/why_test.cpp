// Floors, parts and changes: what `rondo why` tells, without a device.
#include "tuner/why/why.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/schedule/strategies.h"
#include "engine/choice/candidates.h"
#include "engine/choice/choose.h"
#include "tests/engine/plan/cells.h"

namespace rondo::tuner {
namespace {

using schedule::EstimatePart;
using schedule::Pass;
using schedule::Task;

Task task_of(const std::string& cell, Pass pass, bool products = false, const std::string& board = "h200") {
  schedule::Problem problem;
  problem.sizes = {16, 1024, 1, 768};
  problem.pass = pass;
  problem.save_products = products;
  return {rondo::testing::library_cell(cell), problem, target::find_profile(board).value()};
}

// An LSTM multiplies four matrices forward; backward their transposes, four outer products and, where
// products are not saved, the four of the forward step again.
TEST(Floors, ProductsOfAStepAreCounted) {
  EXPECT_EQ(products_of_step(task_of("lstm", Pass::Forward)), 4);
  EXPECT_EQ(products_of_step(task_of("lstm", Pass::Backward)), 12);
  EXPECT_EQ(products_of_step(task_of("lstm", Pass::Backward, true)), 8);
  EXPECT_EQ(products_of_step(task_of("elman", Pass::Forward)), 1);
  EXPECT_EQ(products_of_step(task_of("mingru", Pass::Backward)), 0);
}

TEST(Floors, ProductsTakeTheirOperationsOverTheRate) {
  const Task task = task_of("lstm", Pass::Forward);
  const double operations = 2.0 * 4 * 768 * 768 * 16 * 1024;
  const double rate = 2048.0 * task.profile.limits.sm_count * task.profile.speeds.clock_hz;
  EXPECT_DOUBLE_EQ(products_floor(task).seconds, operations / rate);
  Task reals = task;
  reals.problem.storage = kernel::Storage::F32;
  reals.problem.math = kernel::Math::Tf32;
  EXPECT_DOUBLE_EQ(products_floor(reals).seconds, 2 * operations / rate);
  reals.problem.math = kernel::Math::Accurate;
  EXPECT_DOUBLE_EQ(products_floor(reals).seconds, 6 * operations / rate);
}

TEST(Floors, ProductsOfCpusAreMultiplyAddsOfTwoVectors) {
  Task task = task_of("lstm", Pass::Forward);
  task.profile.target = {target::Target::Kind::X86_64, 3};
  task.profile.cpu = {2, 32};
  EXPECT_DOUBLE_EQ(products_floor(task).rate(), 2 * 2 * 8 * 2 * task.profile.speeds.clock_hz);
  EXPECT_EQ(products_floor(task).by, "multiply-adds");
}

TEST(Floors, BytesAreEachMovedOnce) {
  const Task task = task_of("mingru", Pass::Forward);
  EXPECT_DOUBLE_EQ(bytes_floor(task, 4e12).seconds,
                   static_cast<double>(schedule::compulsory_bytes(task)) / 4e12);
  EXPECT_DOUBLE_EQ(bytes_floor(task, 4e12).rate(), 4e12);
}

TEST(Floors, TheOneThatBindsComesFirstAndOthersOfNoTimeAreLeftOut) {
  const std::vector<EstimatePart> parts = {{EstimatePart::Of::Chain, "exchange", 2e-3},
                                           {EstimatePart::Of::Work, "rings", 9e-3},
                                           {EstimatePart::Of::Chain, "products", 1e-3}};
  const std::vector<Floor> dense = floors(task_of("lstm", Pass::Forward), parts, 4e12);
  ASSERT_EQ(dense.size(), 3U);
  EXPECT_EQ(dense[0].name, "chain");
  EXPECT_DOUBLE_EQ(dense[0].seconds, 3e-3);  // what is work waits for nothing
  EXPECT_TRUE(std::ranges::is_sorted(dense, std::greater{}, &Floor::seconds));
  const std::vector<Floor> diagonal = floors(task_of("mingru", Pass::Forward), {}, 4e12);
  ASSERT_EQ(diagonal.size(), 1U);
  EXPECT_EQ(diagonal[0].name, "bytes");
}

double seconds_of(const std::vector<EstimatePart>& parts, const std::vector<std::string>& names) {
  double sum = 0;
  for (const EstimatePart& part : parts)
    if (std::ranges::find(names, part.name) != names.end()) sum += part.seconds;
  return sum;
}

// What follows each other adds up; what other warps and the memory do meanwhile shows where it takes longer.
TEST(Parts, OfAPersistentPointMakeItsTime) {
  int compared = 0;
  for (const char* cell : {"lstm", "gru", "rmslstm"})
    for (const Pass pass : {Pass::Forward, Pass::Backward}) {
      const Task task = task_of(cell, pass);
      const schedule::Strategy& strategy = *schedule::find_strategy("persistent");
      const auto candidates = engine::ranked_candidates(task, engine::kFullAlignment, "persistent");
      ASSERT_TRUE(candidates);
      for (std::size_t i = 0; i < candidates->size(); i += 1 + candidates->size() / 40) {
        const std::vector<EstimatePart> parts = strategy.parts(task, (*candidates)[i].parameters);
        const double chain = seconds_of(parts, {"exchange", "products", "reductions", "functions",
                                                "functions of a thread's other channels", "rings",
                                                "hidden by each other", "turns of other tiles"});
        const double walk = std::max({chain, seconds_of(parts, {"staging of inputs"}),
                                      seconds_of(parts, {"storing of results"})}) +
                            seconds_of(parts, {"other warps"});
        const double beside =
            seconds_of(parts, {"launches and first loads", "products of all steps before the sweep"});
        EXPECT_NEAR((*candidates)[i].estimate.seconds, std::max(walk, seconds_of(parts, {"memory"})) + beside,
                    1e-9)
            << cell << " " << schedule::print((*candidates)[i].parameters);
        ++compared;
      }
    }
  EXPECT_GT(compared, 100);
}

TEST(Changes, NoOtherStrategyIsFasterThanTheBest) {
  const std::vector<Change> all = changes(task_of("lstm", Pass::ForwardSave), "persistent");
  const auto of = [&](const std::string& what) {
    const auto found = std::ranges::find(all, what, &Change::what);
    return found == all.end() ? Change{"", 0, 0} : *found;
  };
  EXPECT_GE(of("strategy alternating").times, 1);
  EXPECT_GT(of("B=32").times, 1);
  EXPECT_DOUBLE_EQ(of("B=32").times_a_row, of("B=32").times / 2);
  EXPECT_LT(of("B=32").times_a_row, 1);  // a step waits as long for twice the rows
  EXPECT_DOUBLE_EQ(of("B=8").times_a_row, of("B=8").times * 2);
  EXPECT_GT(of("H=2,D=384").times, 0);
  EXPECT_GT(of("products saved").times, 0);
  EXPECT_EQ(of("strategy persistent").times, 0) << "that is what there is";
}

TEST(Why, AnOutlineIsExplainedByModel) {
  const Task task = task_of("lstm", Pass::Forward);
  engine::Machine machine;
  machine.profile = task.profile;
  const auto choice = engine::choose(task);
  ASSERT_TRUE(choice);
  const auto outline = engine::outline_of(task, *choice);
  ASSERT_TRUE(outline);
  const auto why = explain(task, machine, *outline, 5);
  ASSERT_TRUE(why);
  EXPECT_FALSE(why->measured);
  EXPECT_EQ(why->seconds(), why->model_s);
  EXPECT_EQ(why->floors.front().name, "chain");
  EXPECT_GT(why->share_of_floor(), 0.5);
  EXPECT_LE(why->share_of_floor(), 1);
  EXPECT_TRUE(std::ranges::is_sorted(why->parts, std::greater{}, &EstimatePart::seconds));
  EXPECT_TRUE(why->without.empty());
  EXPECT_FALSE(why->changes.empty());
}

}  // namespace
}  // namespace rondo::tuner
