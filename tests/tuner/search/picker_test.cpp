#include "tuner/search/picker.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/tuner/search/landscape.h"

namespace rondo::tuner {
namespace {

TEST(Picker, GivesEveryCandidateOnceTheModelsFavouritesFirst) {
  const testing::Landscape land = testing::synthetic(1, 0.2);
  Picker picker(land.candidates);
  std::set<std::size_t> seen;
  for (std::size_t i = 0; i < 8; ++i) {
    const auto next = picker.next();
    ASSERT_TRUE(next);
    EXPECT_EQ(*next, i);
    seen.insert(*next);
  }
  while (const auto next = picker.next()) EXPECT_TRUE(seen.insert(*next).second);
  EXPECT_EQ(seen.size(), land.candidates.size());
  EXPECT_EQ(picker.given(), land.candidates.size());
}

engine::Candidate priced(const std::string& strategy, std::int64_t x, double seconds) {
  engine::Candidate candidate{strategy, {{"x", x}}, {}};
  candidate.estimate.seconds = seconds;
  return candidate;
}

// The model once priced stream at 190 and shoot at 556 microseconds where they took 392 and 246, and a search
// of 3 s came to none of shoot's.
TEST(Picker, TheBestOfEachStrategyComesEarly) {
  std::vector<engine::Candidate> ranked;
  for (int i = 0; i < 100; ++i) ranked.push_back(priced("stream", i, 1 + 0.01 * i));
  ranked.push_back(priced("shoot", 0, 2.9));
  ranked.push_back(priced("shoot", 1, 3));
  ranked.push_back(priced("alternating", 0, 4.1));
  Picker picker(ranked);
  EXPECT_EQ(picker.next(), 0u);
  EXPECT_EQ(picker.next(), 100u);
  for (std::size_t i = 1; i <= 6; ++i)
    EXPECT_EQ(picker.next(), i) << "and not the one that the model sees far behind";
}

// Without a tune nobody gets what may spill, so what a tune has to beat is the first of the others.
TEST(Picker, WhatIsTakenWithoutATuneComesFirst) {
  std::vector<engine::Candidate> ranked;
  for (int i = 0; i < 30; ++i) ranked.push_back(priced("stream", i, 1 + i));
  for (std::size_t i = 0; i < 20; ++i) ranked[i].estimate.may_spill = true;
  EXPECT_EQ(first_choice(ranked), 20u);
  Picker picker(ranked);
  EXPECT_EQ(picker.next(), 20u);
  EXPECT_EQ(picker.next(), 0u);
  for (engine::Candidate& candidate : ranked) candidate.estimate.may_spill = true;
  EXPECT_EQ(first_choice(ranked), 0u);
}

TEST(Picker, OneOfEachPriceComesBeforeItsLikes) {
  std::vector<engine::Candidate> ranked;
  for (int i = 0; i < 30; ++i) ranked.push_back(priced("stream", i, 1 + i / 5));
  Picker picker(ranked);
  for (const std::size_t expected : {0u, 5u, 10u, 15u}) EXPECT_EQ(picker.next(), expected);
  std::set<std::size_t> seen{0, 5, 10, 15};
  while (const auto next = picker.next()) EXPECT_TRUE(seen.insert(*next).second);
  EXPECT_EQ(seen.size(), ranked.size());
}

TEST(Picker, TriesEveryValueOfEveryParameterEarly) {
  const testing::Landscape land = testing::synthetic(2, 0.2);
  Picker picker(land.candidates);
  std::map<std::string, std::set<std::int64_t>> all, early;
  for (const auto& candidate : land.candidates)
    for (const auto& [name, value] : candidate.parameters) all[name].insert(value);
  for (int i = 0; i < 300; ++i)
    for (const auto& [name, value] : land.candidates[*picker.next()].parameters) early[name].insert(value);
  EXPECT_EQ(all, early);
}

TEST(Picker, WalksToTheNeighboursOfTheBest) {
  const std::vector<engine::Candidate> line = testing::line(1000);
  Picker picker(line);
  for (int i = 0; i < 8; ++i) picker.measured(*picker.next(), 1);
  EXPECT_TRUE(picker.local_optimum());
  picker.measured(500, 0.1);  // as if something far out had turned out fast
  EXPECT_FALSE(picker.local_optimum());
  std::set<std::size_t> next;
  for (int i = 0; i < 8; ++i) next.insert(*picker.next());
  EXPECT_TRUE(next.count(499) == 1 && next.count(501) == 1);
  EXPECT_TRUE(picker.local_optimum());
}

// A value that the space forbids is stepped over, down and up, where another one lies behind it: along one
// axis as well as with a step along the other.
TEST(Picker, StepsOverWhatTheSpaceForbids) {
  std::vector<engine::Candidate> space;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> place;
  for (std::int64_t x = 0; x < 200; ++x)
    for (std::int64_t y = 0; y < 8; ++y) {
      if (y < 6 ? x % 2 == 1 : x % 2 == 0) continue;
      place[{x, y}] = space.size();
      space.push_back(engine::Candidate{"stream", {{"x", x}, {"y", y}}, {}});
      space.back().estimate.seconds = 1 + 1e-3 * static_cast<double>(space.size());
    }
  for (const auto& [y, others] : std::map<std::int64_t, std::vector<std::pair<std::int64_t, std::int64_t>>>{
           {2, {{98, 2}, {102, 2}, {100, 0}, {100, 4}}}, {5, {{98, 5}, {102, 5}, {99, 6}, {101, 6}}}}) {
    Picker picker(space);
    picker.measured(place.at({100, y}), 0.1);
    std::set<std::size_t> next;
    for (int i = 0; i < 60; ++i) next.insert(*picker.next());
    for (const auto& other : others)
      EXPECT_EQ(next.count(place.at(other)), 1u) << other.first << " " << other.second;
  }
}

TEST(Picker, AnEmptySpaceGivesNothing) {
  const std::vector<engine::Candidate> none;
  Picker picker(none);
  EXPECT_FALSE(picker.next());
}

}  // namespace
}  // namespace rondo::tuner
