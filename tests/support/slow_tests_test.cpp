// Slow tests: four turns in a row run each of them once, and no setting of a short or a long run leaves one
// out.
#include "tests/support/slow_tests.h"

namespace rondo::testing {
namespace {

TEST(SlowTests, EachRunsAtEveryFourthTurn) {
  for (const char* name :
       {"Within.TheLeast", "Saving.TuneTakesWhatFitsInMemory", "FalseAlarms.RandomCellsPass"})
    for (unsigned long first = 0; first < 9; ++first) {
      int runs = 0;
      for (unsigned long turn = first; turn < first + kTurnsOfSlowTests; ++turn)
        runs += !waits_for_its_turn({false, true, turn}, name);
      EXPECT_EQ(runs, 1) << name;
    }
}

TEST(SlowTests, AllRunWhereNoTurnIsSet) {
  EXPECT_FALSE(waits_for_its_turn({false, false, 0}, "Within.TheLeast"));
  EXPECT_FALSE(waits_for_its_turn({true, false, 3}, "Within.TheLeast"));
}

}  // namespace
}  // namespace rondo::testing
