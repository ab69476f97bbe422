// What a search does with memory and time: little for what is far behind, and enough for the leaders.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tuner/search/landscape.h"

namespace rondo::tuner {
namespace {

using testing::Landscape;
using testing::TableMeasurer;

// Of thousands of candidates the memory of few may be kept: of those that are worth more than a look.
TEST(SearchBudget, WhatIsFarBehindGivesItsMemoryBack) {
  const Landscape land = testing::synthetic(6, 0.2);
  TableMeasurer machine(land.points);
  SearchOptions options;
  options.budget_s = 20;
  const SearchResult result = search(land.candidates, machine, options, machine.clock());
  ASSERT_TRUE(result.best);
  int looked_at = 0;
  for (const auto& [candidate, runs] : machine.runs) {
    if (runs > 1) continue;
    ++looked_at;
    EXPECT_EQ(machine.dropped.count(candidate), 1u) << candidate;
  }
  EXPECT_GT(looked_at, 50);
}

// All of them, in all rounds: what a search tries ends before that.
TEST(SearchBudget, LeadersAreConfirmedWithinTheirShare) {
  const Landscape land = testing::synthetic(4, 0.2);
  for (const double budget : {10.0, 20.0}) {
    TableMeasurer machine(land.points);
    SearchOptions options;
    options.budget_s = budget;
    options.patience = 1000000;
    options.confirm_rounds = 150;
    const SearchResult result = search(land.candidates, machine, options, machine.clock());
    EXPECT_EQ(result.end, SearchEnd::Budget);
    ASSERT_TRUE(result.best);
    EXPECT_EQ(result.rows[*result.best].timing.samples, options.confirm_rounds) << budget;
    EXPECT_EQ(std::ranges::count_if(result.rows, [](const Row& row) { return row.confirmed; }),
              options.leaders)
        << budget;
    EXPECT_LE(result.seconds, budget) << budget;
  }
}

}  // namespace
}  // namespace rondo::tuner
