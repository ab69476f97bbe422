// The counters by which blocks of a cooperative launch wait for each other (GridArrive, GridWait).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "compiler/kernel/simulator/clocks.h"
#include "compiler/kernel/simulator/simulate.h"

namespace rondo::kernel::simulator {

class Flags {
 public:
  explicit Flags(Clocks& clocks) : clocks_(clocks) {}

  // One lane adds 1 to the counter, which is `value` afterwards.
  void arrive(const GlobalBuffer* buffer, std::int64_t index, const Party& lane, std::int64_t value);
  // The party has read at least `target` from the counter. It then knows of the arrivals that made it so; of
  // later ones, which it would know in this interleaving only, it does not.
  void acquire(const GlobalBuffer* buffer, std::int64_t index, const Party& party, std::int64_t target);
  bool empty() const { return counters_.empty(); }
  // Whether a plain access by this thread may meet an arrival: it is ordered after fewer than have come.
  bool unordered(const GlobalBuffer* buffer, std::int64_t index, const Thread& by) const;

 private:
  struct Arrival {
    std::int64_t value;
    int agent;
    int lane;
    Clock clock;
    Knowledge knowledge;  // of this and all earlier ones: red.release heads a release sequence
  };

  Clocks& clocks_;
  std::map<std::pair<const GlobalBuffer*, std::int64_t>, std::vector<Arrival>> counters_;
};

}  // namespace rondo::kernel::simulator
