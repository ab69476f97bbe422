// Splitting equal pieces of work among threads.
#pragma once

namespace rondo::schedule {

// The fewest turns in which at most `threads` threads do `pieces` pieces, each thread one a turn and the same
// threads in every turn: a divisor of `pieces`.
inline int even_turns(int pieces, int threads) {
  int turns = 1;
  while (pieces % turns != 0 || pieces / turns > threads) ++turns;
  return turns;
}

}  // namespace rondo::schedule
