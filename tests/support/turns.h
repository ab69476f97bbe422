// Which of many like cases a run of the tests takes. `tools/test` takes every n-th of them, chosen so that
// each cell and each form has its turn; `tools/test long` takes all. Where RONDO_TURN is set to a number,
// both take every eighth, moved by that number: CI sets it to the count of commits, so that 8 commits in a
// row take all cases.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

namespace rondo::testing {

struct Turns {
  static constexpr unsigned long kOfCommits = 8;

  bool all = false;
  bool by_commit = false;  // RONDO_TURN is set
  unsigned long moved_by = 0;

  // Of RONDO_LONG_TESTS and RONDO_TURN, null where they are not set. Throws where the latter is no number.
  static Turns of(const char* long_tests, const char* turn) {
    const bool by_commit = turn != nullptr;
    return {long_tests != nullptr && !by_commit, by_commit, by_commit ? std::stoul(turn) : 0};
  }
  // Of one turn everything is taken.
  bool take(int number, int turns) const {
    const unsigned long every = by_commit && turns > 1 ? kOfCommits : static_cast<unsigned long>(turns);
    return all || (static_cast<unsigned long>(number) + moved_by) % every == 0;
  }
};

inline const Turns& turns_of_run() {
  static const Turns turns = Turns::of(std::getenv("RONDO_LONG_TESTS"), std::getenv("RONDO_TURN"));
  return turns;
}

inline bool all_cases() { return turns_of_run().all; }
inline bool has_turn(int number, int turns = 3) { return turns_of_run().take(number, turns); }

// Of the cases those that have their turn, of the parameters of a test, say; at least one.
template <class Case>
std::vector<Case> with_turns(const std::vector<Case>& cases, int turns = 3) {
  std::vector<Case> taken;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (has_turn(static_cast<int>(i), turns)) taken.push_back(cases[i]);
  if (taken.empty() && !cases.empty()) taken.push_back(cases[turns_of_run().moved_by % cases.size()]);
  return taken;
}

}  // namespace rondo::testing
