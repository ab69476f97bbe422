// The end of a search: its winner is compared at the user's own sizes, once, and gives way where it is wrong
// there.
#include <gtest/gtest.h>

#include "tests/tuner/search/landscape.h"

namespace rondo::tuner {
namespace {

using db::TrialStatus;
using testing::Point;
using testing::TableMeasurer;

std::vector<Point> slower_and_slower(std::size_t count) {
  std::vector<Point> points(count);
  for (std::size_t i = 0; i < count; ++i) points[i].seconds = 1e-3 * (1 + 0.02 * static_cast<double>(i));
  return points;
}

SearchResult searched(TableMeasurer& machine, std::size_t count, const SearchOptions& options = {}) {
  machine.noise = 0;
  return search(testing::line(count), machine, options, machine.clock());
}

const Row& row_for(const SearchResult& result, std::int64_t candidate) {
  return *std::find_if(result.rows.begin(), result.rows.end(),
                       [&](const Row& row) { return row.candidate.parameters.at("channels") == candidate; });
}

TEST(ProvenSearch, TheWinnerAloneIsComparedAndSaysWith) {
  TableMeasurer machine(slower_and_slower(12));
  const SearchResult result = searched(machine, 12);
  EXPECT_EQ(machine.at_shape, (std::vector<std::size_t>{0}));
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.rows[*result.best].at_shape, "every element beside a plain kernel");
  EXPECT_EQ(row_for(result, 1).at_shape, "");
}

TEST(ProvenSearch, OneThatIsWrongThereGivesWayToTheNext) {
  std::vector<Point> points = slower_and_slower(12);
  points[0].wrong_at_shape = points[1].wrong_at_shape = true;
  TableMeasurer machine(points);
  const SearchResult result = searched(machine, 12);
  EXPECT_EQ(machine.at_shape, (std::vector<std::size_t>{0, 1, 2}));
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.rows[*result.best].candidate.parameters.at("channels"), 2);
  EXPECT_TRUE(result.measured);
  for (const std::int64_t wrong : {0, 1}) {
    EXPECT_EQ(row_for(result, wrong).status, TrialStatus::Wrong);
    EXPECT_FALSE(row_for(result, wrong).verified);
    EXPECT_EQ(row_for(result, wrong).reason, "h_out: wrong at B=7 T=4000");
  }
}

TEST(ProvenSearch, OneThatFailsThereGivesWayToo) {
  std::vector<Point> points = slower_and_slower(4);
  points[0].fails_at_shape = true;
  TableMeasurer machine(points);
  const SearchResult result = searched(machine, 4);
  EXPECT_EQ(machine.at_shape, (std::vector<std::size_t>{0, 1}));
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.rows[*result.best].candidate.parameters.at("channels"), 1);
  EXPECT_EQ(row_for(result, 0).status, TrialStatus::LaunchError);
  EXPECT_EQ(row_for(result, 0).reason, "an illegal address");
}

TEST(ProvenSearch, WhereAllLeadersAreWrongThereIsADiagnosis) {
  std::vector<Point> points = slower_and_slower(3);
  for (Point& point : points) point.wrong_at_shape = true;
  TableMeasurer machine(points);
  const SearchResult result = searched(machine, 3);
  EXPECT_FALSE(result.best);
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->wrong, 3);
  EXPECT_EQ(result.diagnosis->verdict.tensor, "h_out");
}

TEST(ProvenSearch, WhatCannotBeComparedStaysAndSaysWhy) {
  std::vector<Point> points = slower_and_slower(4);
  points[0].not_at_shape = true;
  TableMeasurer machine(points);
  const SearchResult result = searched(machine, 4);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.rows[*result.best].candidate.parameters.at("channels"), 0);
  EXPECT_NE(result.rows[*result.best].at_shape.find("not compared at the full shape: no plain plan"),
            std::string::npos);
}

TEST(ProvenSearch, AUserWhoStopsItDoesNotWait) {
  TableMeasurer machine(slower_and_slower(400));
  std::atomic<bool> cancel{false};
  machine.after_run = [&] { cancel = machine.now > 1; };
  SearchOptions options;
  options.cancel = &cancel;
  const SearchResult result = searched(machine, 400, options);
  EXPECT_EQ(result.end, SearchEnd::Cancelled);
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(machine.at_shape.empty());
}

}  // namespace
}  // namespace rondo::tuner
