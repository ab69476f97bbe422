// Which of many like cases a run takes.
#include "tests/support/turns.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace rondo::testing {
namespace {

std::set<int> taken(const Turns& turns, int cases, int n) {
  std::set<int> result;
  for (int number = 0; number < cases; ++number)
    if (turns.take(number, n)) result.insert(number);
  return result;
}

TEST(Turns, AShortRunTakesEveryNth) {
  EXPECT_EQ(taken(Turns::of(nullptr, nullptr), 10, 3), (std::set<int>{0, 3, 6, 9}));
}

TEST(Turns, ALongRunTakesAllUnlessATurnIsGiven) {
  EXPECT_EQ(taken(Turns::of("1", nullptr), 10, 3).size(), 10u);
  EXPECT_TRUE(Turns::of("1", nullptr).all);
  EXPECT_FALSE(Turns::of("1", "7").all);
}

TEST(Turns, ATurnTakesEveryEighth) {
  EXPECT_EQ(taken(Turns::of("1", "7"), 20, 3), (std::set<int>{1, 9, 17}));
  EXPECT_EQ(taken(Turns::of(nullptr, "1"), 20, 13), (std::set<int>{7, 15}));
  EXPECT_EQ(taken(Turns::of("1", "7"), 20, 1).size(), 20U) << "there are no turns";
}

TEST(Turns, EightInARowTakeEachCaseOnce) {
  for (const int n : {2, 3, 5, 8, 13}) {
    std::multiset<int> all;
    for (int turn = 1234; turn < 1234 + 8; ++turn)
      for (const int number : taken(Turns::of("1", std::to_string(turn).c_str()), 40, n)) all.insert(number);
    EXPECT_EQ(all.size(), 40u) << n;
    EXPECT_EQ(std::set<int>(all.begin(), all.end()).size(), 40u) << n;
  }
}

TEST(Turns, WhatIsNoNumberIsRefused) { EXPECT_THROW(Turns::of("1", "next"), std::invalid_argument); }

}  // namespace
}  // namespace rondo::testing
