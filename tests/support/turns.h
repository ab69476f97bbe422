// Which of many like cases a run of the tests takes. `tools/test` takes every n-th of them, chosen so that
// each cell and each form has its turn; `tools/test long` takes all. Where RONDO_TURN is set to a number,
// both take every n-th, moved by that number: CI sets it to the count of commits, so that as many commits in
// a row as there are turns, 8 at most, take all cases.
#pragma once

#include <cstdlib>
#include <string>

namespace rondo::testing {

struct Turns {
  bool all = false;
  unsigned long moved_by = 0;

  // Of RONDO_LONG_TESTS and RONDO_TURN, null where they are not set. Throws where the latter is no number.
  static Turns of(const char* long_tests, const char* turn) {
    return {long_tests != nullptr && turn == nullptr, turn == nullptr ? 0 : std::stoul(turn)};
  }
  bool take(int number, int turns) const {
    return all || (static_cast<unsigned long>(number) + moved_by) % static_cast<unsigned long>(turns) == 0;
  }
};

inline const Turns& turns_of_run() {
  static const Turns turns = Turns::of(std::getenv("RONDO_LONG_TESTS"), std::getenv("RONDO_TURN"));
  return turns;
}

inline bool all_cases() { return turns_of_run().all; }
inline bool has_turn(int number, int turns = 3) { return turns_of_run().take(number, turns); }

}  // namespace rondo::testing
