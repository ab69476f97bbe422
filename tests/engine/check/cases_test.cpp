// The sizes that a verification runs follow the shape that is asked for and the plan that is checked.
#include "engine/check/cases.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

using schedule::Pass;

schedule::Problem problem_at(std::int64_t batch, std::int64_t time, std::int64_t dim,
                             Pass pass = Pass::Forward) {
  schedule::Problem problem = rondo::testing::problem_of(pass, dim);
  problem.sizes.batch = batch;
  problem.sizes.time = time;
  return problem;
}

std::vector<VerifyCase> cases(const char* cell, const schedule::Problem& problem, const Coverage& coverage) {
  return cases_for({rondo::testing::library_cell(cell), problem, {}}, coverage, gpu_budget());
}

TEST(Cases, StatesMayBeArbitraryWhereThereAreAny) {
  const step::Cell cell = rondo::testing::library_cell("mingru");
  const auto list = cases_for({cell, problem_at(2, 33, 64), {}}, {}, gpu_budget(), true);
  ASSERT_GE(list.size(), 2u);
  for (const VerifyCase& one : list) EXPECT_EQ(one.arbitrary_states, one.initial_states) << one.text();
  EXPECT_NE(list.front().text().find("arbitrary states"), std::string::npos) << list.front().text();
  EXPECT_EQ(list.back().text().find("arbitrary states"), std::string::npos) << list.back().text();
  EXPECT_FALSE(cases("mingru", problem_at(2, 33, 64), {}).front().arbitrary_states) << "only where asked for";
}

bool any(const std::vector<VerifyCase>& list, const auto& holds) {
  return std::any_of(list.begin(), list.end(), [&](const VerifyCase& one) { return holds(one.sizes); });
}

TEST(Cases, TheShapeThatIsAskedForIsRun) {
  const auto list = cases("mingru", problem_at(2, 33, 64), {});
  EXPECT_EQ(list.front().sizes.batch, 2);
  EXPECT_EQ(list.front().sizes.time, 33);
  EXPECT_EQ(list.front().layout.gap, 8);
  EXPECT_EQ(list.front().covers, "the shape asked for");
}

TEST(Cases, BatchRowsThatCanBeAffordedAreAllRun) {
  const auto list = cases("mingru", problem_at(5, 33, 64), {});
  EXPECT_EQ(list.front().sizes.batch, 5);
  EXPECT_EQ(list.front().covers, "the shape asked for");
}

TEST(Cases, OneStepWithoutStatesIsAlwaysRun) {
  const auto list = cases("mingru", problem_at(2, 33, 64), {});
  EXPECT_EQ(list.back().sizes.batch, 1);
  EXPECT_EQ(list.back().sizes.time, 1);
  EXPECT_FALSE(list.back().initial_states);
  EXPECT_EQ(list.back().layout.gap, 0);
}

TEST(Cases, ASecondTileASecondPartAndTwoTurnsAreRun) {
  const Coverage coverage{8, 3, 100};
  const auto list = cases("lstm", problem_at(2, 33, 64), coverage);
  EXPECT_TRUE(any(list, [](const step::Sizes& s) { return s.batch == 25; })) << "a part is 3 tiles of 8 rows";
  EXPECT_TRUE(any(list, [](const step::Sizes& s) { return s.time == 201; }));
  const auto without_parts = cases("lstm", problem_at(2, 33, 64), {8, 0, 1});
  EXPECT_TRUE(any(without_parts, [](const step::Sizes& s) { return s.batch == 9; }));
}

TEST(Cases, ALargeShapeIsCutAndSaysSo) {
  for (const char* cell : {"mingru", "lstm"}) {
    const auto list = cases(cell, problem_at(64, 8192, 1024), {8, 8, 96});
    EXPECT_LT(list.front().sizes.batch * list.front().sizes.time, 64 * 8192);
    EXPECT_EQ(list.front().sizes.time % 2, 1) << "a tail in every stage";
    EXPECT_NE(list.front().covers.find("cut from B=64,T=8192"), std::string::npos) << list.front().covers;
  }
}

// Two turns that cost too much are cut to as many steps as the shape was: one case does for both.
TEST(Cases, WhatIsCutToTheSameStepsIsRunOnce) {
  schedule::Problem problem = problem_at(16, 1024, 768, Pass::Backward);
  problem.sizes.heads = 1;  // of which the budget allows an even number of steps, 94
  const auto list = cases("lstm", problem, {16, 0, 48});
  EXPECT_EQ(std::ranges::count_if(list, [](const VerifyCase& one) { return one.sizes.time > 5; }), 1);
  EXPECT_NE(list.front().covers.find("two turns of 48 steps cost too much"), std::string::npos)
      << list.front().covers;
}

// Of a backward pass the first of them is the same from stored states.
TEST(Cases, BetterOnesAreTheNearestFirst) {
  VerifyCase shape;
  shape.sizes = {3, 33, 1, 64};
  for (const bool decisions : {false, true}) {
    const auto forward = better_cases(shape, Pass::ForwardSave, decisions);
    const auto backward = better_cases(shape, Pass::Backward, decisions);
    ASSERT_EQ(backward.size(), forward.size() + 1);
    EXPECT_EQ(backward.front().text(), shape.text() + ", from stored states");
    for (const VerifyCase& one : forward) EXPECT_FALSE(one.stored_states) << one.text();
    for (const VerifyCase& one : backward) EXPECT_TRUE(one.stored_states) << one.text();
    for (std::size_t i = 0; i < forward.size(); ++i)
      EXPECT_EQ(backward[i + 1].text(), forward[i].text() + ", from stored states");
  }
}

// What cannot be afforded is said, whatever it is.
TEST(Cases, WhatCostsTooMuchIsNamed) {
  const auto list = cases("lstm", problem_at(1, 4, 8192, Pass::Backward), {32, 64, 4096});
  std::string all;
  for (const VerifyCase& one : list) all += one.covers + "\n";
  EXPECT_NE(all.find("a second part of 2048 rows costs too much"), std::string::npos) << all;
  EXPECT_NE(all.find("two turns of 4096 steps"), std::string::npos) << all;
}

// The work of every case stays within the budget, unless one step of one row is beyond it.
TEST(Cases, NoCaseIsEmptyOrBeyondAllBounds) {
  for (const char* cell : {"mingru", "lstm", "rglru"})
    for (const Pass pass : {Pass::Forward, Pass::Backward})
      for (const std::int64_t dim : {1, 64, 1536, 65536})
        for (const VerifyCase& one : cases(cell, problem_at(16, 2048, dim, pass), {16, 4, 512})) {
          EXPECT_GE(one.sizes.batch, 1);
          EXPECT_GE(one.sizes.time, 1);
          EXPECT_LE(one.sizes.batch * one.sizes.time * dim, 60'000'000) << one.text();
          EXPECT_FALSE(one.covers.empty());
        }
}

}  // namespace
}  // namespace rondo::engine
