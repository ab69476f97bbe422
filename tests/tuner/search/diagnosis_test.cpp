// A search ends with a verified winner or a diagnosis.
#include "tuner/search/diagnosis.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/tuner/search/landscape.h"

namespace rondo::tuner {
namespace {

using testing::Point;
using testing::TableMeasurer;

// Candidates of two strategies: those of the second come after all of the first by the model.
std::vector<engine::Candidate> two_strategies(std::size_t first, std::size_t second) {
  std::vector<engine::Candidate> result = testing::line(first + second);
  for (std::size_t i = first; i < result.size(); ++i) result[i].strategy = "alternating";
  return result;
}

std::vector<Point> wrong(std::size_t count) {
  std::vector<Point> points(count);
  for (Point& point : points) point.wrong = true;
  return points;
}

TEST(Diagnosis, SaysHowManyAreWrongWhereAndByHowMuch) {
  std::vector<Point> points = wrong(8);
  points[2].tensor = "grad_x";
  points[2].excess = 1.25;
  points[5].tensor = "grad_x";
  points[5].excess = 3;
  points[6].build = db::TrialStatus::CompileError;
  TableMeasurer machine(points);
  SearchOptions options;
  options.other_seed = 41;
  const SearchResult result = search(two_strategies(5, 3), machine, options, machine.clock());
  EXPECT_FALSE(result.best);
  ASSERT_TRUE(result.diagnosis);
  const Diagnosis& found = *result.diagnosis;
  EXPECT_EQ(found.wrong, 7u);
  ASSERT_EQ(found.tensors.size(), 2u);
  EXPECT_EQ(found.tensors[0].name, "h_out");
  EXPECT_EQ(found.tensors[0].candidates, 5u);
  EXPECT_EQ(found.tensors[0].least_excess, 77);
  EXPECT_EQ(found.tensors[1].name, "grad_x");
  EXPECT_EQ(found.tensors[1].least_excess, 1.25);
  ASSERT_EQ(found.strategies.size(), 2u);
  EXPECT_EQ(found.strategies[0].name, "alternating");
  EXPECT_EQ(found.strategies[0].tried, 3u);
  EXPECT_EQ(found.strategies[0].wrong, 2u);
  EXPECT_EQ(found.strategies[1].wrong, 5u);
  EXPECT_EQ(found.nearest.parameters.at("channels"), 2) << "the one nearest to its limit";
  EXPECT_EQ(found.verdict.excess, 1.25);
  EXPECT_EQ(found.other_seed, 41u);
  EXPECT_FALSE(found.with_other_seed.passed);
  EXPECT_EQ(machine.verified.back(), 2u);
  EXPECT_EQ(machine.seeds.back(), 41u);
  const std::string text = found.text();
  for (const char* part :
       {"all 7 candidates that ran give wrong results",
        "h_out: worst tensor of 5, at least 77 times its limit",
        "grad_x: worst tensor of 2, at least 1.25 times its limit", "alternating: 3 tried, 2 ran, all wrong",
        "nearest to right: stream channels=2", "on data of seed 41 it is wrong too"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_NE(found.advice().find("rondo verify --simulate"), std::string::npos);
  EXPECT_EQ(machine.dropped.size(), 8u) << "nothing stays loaded";
}

TEST(Diagnosis, SaysWhetherAnotherSeedPasses) {
  std::vector<Point> points = wrong(3);
  points[1].excess = 1.1;
  points[1].right_elsewhere = true;
  TableMeasurer machine(points);
  SearchOptions options;
  options.other_seed = 1000003;
  const SearchResult result = search(testing::line(3), machine, options, machine.clock());
  ASSERT_TRUE(result.diagnosis);
  EXPECT_TRUE(result.diagnosis->with_other_seed.passed);
  EXPECT_NE(result.diagnosis->text().find("on data of seed 1000003 it is right"), std::string::npos);
  EXPECT_NE(result.diagnosis->advice().find("--seed 1000003"), std::string::npos);
}

// The budget went by with one strategy: the other has its turn before the search gives up.
TEST(Diagnosis, AnotherStrategyThatPassesIsTheWinner) {
  std::vector<Point> points = wrong(400);
  for (std::size_t i = 390; i < 400; ++i) points[i].wrong = false;
  TableMeasurer machine(points);
  machine.slots = 1;
  SearchOptions options;
  options.budget_s = 0.5;  // for a handful of candidates
  const SearchResult result = search(two_strategies(390, 10), machine, options, machine.clock());
  EXPECT_EQ(result.end, SearchEnd::Budget);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.rows[*result.best].candidate.strategy, "alternating");
  EXPECT_TRUE(result.rows[*result.best].verified);
  EXPECT_FALSE(result.diagnosis);
}

TEST(Diagnosis, StrategiesOfWhichNothingRunsAreNamed) {
  std::vector<Point> points = wrong(10);
  for (std::size_t i = 5; i < 10; ++i) points[i].spill_bytes = 400;
  TableMeasurer machine(points);
  const SearchResult result = search(two_strategies(5, 5), machine, {}, machine.clock());
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->untried, std::vector<std::string>{"alternating"});
  EXPECT_NE(result.diagnosis->text().find("strategy alternating: none ran"), std::string::npos);
}

TEST(Diagnosis, ThereIsNoneWhereSomethingIsRightOrNothingRan) {
  std::vector<Point> points = wrong(5);
  points[3].wrong = false;
  TableMeasurer some(points);
  EXPECT_FALSE(search(testing::line(5), some, {}, some.clock()).diagnosis);
  for (Point& point : points) point.fails = true;
  TableMeasurer none(points);
  EXPECT_FALSE(search(testing::line(5), none, {}, none.clock()).diagnosis);
  const std::atomic<bool> cancel{true};
  SearchOptions options;
  options.cancel = &cancel;
  TableMeasurer cancelled(wrong(5));
  EXPECT_FALSE(search(testing::line(5), cancelled, options, cancelled.clock()).diagnosis);
}

TEST(Diagnosis, ElementsThatAreMissingAreBeyondAnyLimit) {
  std::vector<Point> points = wrong(2);
  for (Point& point : points) point.excess = std::numeric_limits<double>::infinity();
  TableMeasurer machine(points);
  const SearchResult result = search(testing::line(2), machine, {}, machine.clock());
  ASSERT_TRUE(result.diagnosis);
  EXPECT_NE(result.diagnosis->text().find("beyond any limit: elements missing"), std::string::npos);
}

}  // namespace
}  // namespace rondo::tuner
