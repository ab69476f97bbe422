// Named barriers of a group's blocks (PTX ISA, 9.7.13.1 barrier): who has come in this turn, and what those
// who wait learn from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/kernel/simulator/clocks.h"
#include "compiler/kernel/simulator/faults.h"

namespace rondo::kernel::simulator {

class NamedBarriers {
 public:
  struct State {
    int threads = 0;  // of the turn under way
    int turn = 0;
    int came = 0;  // threads, in this turn
    // Of those who have come in this turn so far; of all in completed turns.
    Knowledge gathering, completed;
    struct Arrival {
      int agent;
      Clock clock;
    };
    std::vector<Arrival> now, before;  // of this turn; of the one before
  };

  NamedBarriers(Clocks& clocks, FaultLog& log) : clocks_(clocks), log_(log) {}

  struct Coming {
    const State* barrier;
    int turn;  // that it counts for
  };

  // A warp comes for `threads` threads; nothing, with a fault reported and the run stopped, if others have
  // come for another number.
  std::optional<Coming> come(const Stmt* stmt, const Party& warp, int id, int threads);

 private:
  void check_turn(const State& state, const Stmt* stmt, const Party& warp, int id);

  Clocks& clocks_;
  FaultLog& log_;
  std::map<std::pair<std::int64_t, int>, State> states_;  // by block and barrier
};

}  // namespace rondo::kernel::simulator
