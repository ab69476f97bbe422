// Which of many like cases a run of the tests takes. `tools/test` takes every n-th of them, chosen so that
// each cell and each form has its turn; `tools/test long`, which CI calls, takes all.
#pragma once

#include <cstdlib>

namespace rondo::testing {

inline bool all_cases() {
  static const bool all = std::getenv("RONDO_LONG_TESTS") != nullptr;
  return all;
}
inline bool has_turn(int number, int turns = 3) { return all_cases() || number % turns == 0; }

}  // namespace rondo::testing
