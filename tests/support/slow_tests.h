// Tests that take ten seconds and more, and have no cases of their own that take turns (turns.h), which
// tests/structure makes sure of. Where RONDO_TURN is set, as in CI, every fourth commit runs each of them:
// four in a row run all.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/turns.h"

namespace rondo::testing {

inline constexpr const char* kAnotherTurn = "it takes long, and runs at every fourth commit (RONDO_TURN)";
inline constexpr unsigned long kTurnsOfSlowTests = 4;

// By the test's name, so that about as many run at each turn.
inline unsigned long turn_of_slow_test(const std::string& name) {
  unsigned long sum = 0;
  for (const char letter : name) sum = sum * 21 + static_cast<unsigned char>(letter);
  return sum / 128 % kTurnsOfSlowTests;
}

inline bool waits_for_its_turn(const Turns& turns, const std::string& name) {
  return turns.by_commit && turns.moved_by % kTurnsOfSlowTests != turn_of_slow_test(name);
}

// Of the test that runs: who asks skips the rest and says kAnotherTurn.
inline bool waits_for_its_turn() {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return waits_for_its_turn(turns_of_run(), std::string(test->test_suite_name()) + "." + test->name());
}

}  // namespace rondo::testing
