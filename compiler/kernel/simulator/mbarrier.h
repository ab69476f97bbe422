// The mbarriers of a group's blocks (PTX ISA, mbarrier): their phases, what each phase waits for, and what
// threads know once they have waited for a phase.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/kernel/ir/ir.h"
#include "compiler/kernel/simulator/clocks.h"
#include "compiler/kernel/simulator/faults.h"

namespace rondo::kernel::simulator {

// Something that a thread does to the mbarrier of another block: that block must not leave before.
struct RemoteUse {
  const Stmt* stmt = nullptr;
  Thread by;
  Clock clock = 0;
  Clock phase = 0;
};

struct Mbarrier {
  Mbarrier(std::string text, std::int64_t owner, int at, int count, const Knowledge& nothing)
      : name(std::move(text)),
        block(owner),
        column(at),
        arrivals(count),
        pending(count),
        gathering(nothing),
        completed(nothing) {}

  // Whether the phase of this parity has completed (mbarrier.test_wait.parity): "the immediately preceding
  // phase" has the other parity than the current one.
  bool has_completed(std::int64_t parity) const { return (phase & 1) != static_cast<Clock>(parity); }

  std::string name;  // "full[2]"
  std::int64_t block;
  int column;  // of Clocks
  int arrivals;
  Clock phase = 0;                // completed so far
  int pending;                    // arrivals missing in the current phase
  std::int64_t bytes = 0;         // expected and not yet come (tx-count); below zero when they came first
  Knowledge gathering;            // of all who have arrived, or sent, so far
  Knowledge completed;            // of those of completed phases
  RemoteUse sent;                 // the last st.async
  std::vector<RemoteUse> remote;  // the last arrival of each thread of another block
};

class Mbarriers {
 public:
  Mbarriers(const Kernel& kernel, Clocks& clocks, FaultLog& log);

  // Null, with a fault reported, when the array has no such element or the cluster no such block.
  Mbarrier* find(const Stmt* stmt, const Thread& by, std::int64_t block, MbarrierId id, std::int64_t index);
  // Each lane of the party arrives once, after it has added `bytes` to what the phase waits for (of all
  // lanes together).
  void arrive(Mbarrier& m, const Stmt* stmt, const Party& party, std::int64_t bytes);
  // The lanes of the party have stored `bytes` together.
  void receive(Mbarrier& m, const Stmt* stmt, const Party& party, std::int64_t bytes);
  // All warps of the group have finished: reports what may still have been on its way to a block that left.
  void check_exits();

 private:
  bool in_phase(const Mbarrier& m, const Stmt* stmt, const Party& party, const char* what);
  void complete_if_done(Mbarrier& m, const Stmt* stmt);
  void note_arrival(Mbarrier& m, const Stmt* stmt, const Party& party, Clock clock);

  const Kernel& kernel_;
  Clocks& clocks_;
  FaultLog& log_;
  std::vector<int> first_;  // of each array among the mbarriers of a block
  std::vector<Mbarrier> mbarriers_;
};

int mbarriers_per_block(const Kernel& kernel);
// "1 of 2 arrivals have come, 64 bytes are still expected"
std::string progress(const Mbarrier& m);

}  // namespace rondo::kernel::simulator
