// Where strategies take over from each other, against what the list of candidates says on both sides.
#include "engine/choice/crossover.h"

#include <gtest/gtest.h>

#include "engine/choice/candidates.h"
#include "tests/engine/plan/cells.h"
#include "tests/support/slow_tests.h"

namespace rondo::engine {
namespace {

using schedule::Pass;

schedule::Problem channels_of(std::int64_t channels, Pass pass = Pass::Forward) {
  schedule::Problem problem = testing::problem_of(pass, std::min<std::int64_t>(channels, 1024));
  problem.sizes.batch = std::max<std::int64_t>(1, channels / 1024);
  problem.sizes.heads = 1;
  problem.sizes.time = 8192;
  return problem;
}

TEST(Crossovers, LieWhereTheBestCandidateChanges) {
  const step::Cell cell = testing::library_cell("paragru");
  const target::Profile profile = target::find_profile("h200").value();
  const auto found = crossover({cell, channels_of(64), profile});
  ASSERT_TRUE(found.ok() && found.value());
  const Crossover& at = *found.value();
  EXPECT_EQ(at.few, "shoot");
  EXPECT_EQ(at.many, "stream");
  const auto best_of = [&](std::int64_t channels) {
    schedule::Problem problem = channels_of(64);
    problem.sizes.batch = channels / 64;
    return ranked_candidates({cell, problem, profile})->front().strategy;
  };
  EXPECT_EQ(best_of(at.channels), "shoot");
  EXPECT_EQ(best_of(2 * at.channels), "stream");
  EXPECT_NE(print(at, channels_of(64)).find("at T=8192, H=1, D=64: shoot up to B="), std::string::npos);
}

// It was computed for rows of 1024 channels, and said another strategy than the ranking above it.
TEST(Crossovers, AgreeWithTheRankingWhereTheyAreAsked) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const step::Cell cell = testing::library_cell("paragru");
  const target::Profile profile = target::find_profile("h200").value();
  for (const std::int64_t dim : {16, 64, 500, 2048})
    for (const std::int64_t batch : {1, 3, 16, 100, 700}) {
      schedule::Problem problem = channels_of(64);
      problem.sizes = {batch, 8192, 1, dim};
      const schedule::Task task{cell, problem, profile};
      const auto found = crossover(task);
      ASSERT_TRUE(found.ok() && found.value());
      const Crossover& at = *found.value();
      EXPECT_EQ(batch * dim <= at.channels ? at.few : at.many, ranked_candidates(task)->front().strategy)
          << batch << " rows of " << dim << ": " << print(at, problem);
    }
}

TEST(Crossovers, OneStrategyHasNone) {
  const target::Profile profile = target::find_profile("h200").value();
  const auto backward =
      crossover({testing::library_cell("paragru"), channels_of(64, Pass::Backward), profile});
  ASSERT_TRUE(backward.ok());
  EXPECT_FALSE(backward.value()) << "stream alone has a backward pass";
  const auto affine = crossover({testing::library_cell("mingru"), channels_of(64), profile});
  ASSERT_TRUE(affine.ok() && affine.value());
  EXPECT_EQ(affine.value()->few, "stream");
  EXPECT_EQ(affine.value()->many, "stream");
}

// `persistent for any number of channels` was said of D = 3000, where it is not legal.
TEST(Crossovers, CellsWithMatricesHaveNone) {
  const target::Profile profile = target::find_profile("h200").value();
  const auto found = crossover({testing::library_cell("lstm"), channels_of(64), profile});
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found.value());
}

}  // namespace
}  // namespace rondo::engine
