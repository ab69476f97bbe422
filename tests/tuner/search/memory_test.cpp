#include <gtest/gtest.h>

#include "tests/tuner/search/landscape.h"

namespace rondo::tuner {
namespace {

using testing::Landscape;
using testing::TableMeasurer;

// Of thousands of candidates the memory of few may be kept: of those that are worth more than a look.
TEST(SearchMemory, WhatIsFarBehindGivesItsMemoryBack) {
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

}  // namespace
}  // namespace rondo::tuner
