// Splitting equal pieces of work among threads.
#pragma once

namespace rondo::schedule {

// The smallest number of turns, a divisor of `pieces`, in which `threads` threads can do `pieces` pieces, one
// a thread and turn, with the same threads in every turn.
inline int even_turns(int pieces, int threads) {
  int turns = 1;
  while (pieces % turns != 0 || pieces / turns > threads) ++turns;
  return turns;
}

}  // namespace rondo::schedule
