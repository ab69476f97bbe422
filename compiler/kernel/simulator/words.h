// Words that are their own flags (StoreSelfFlagged, LoadSelfFlagged): who sent, read and cleared each.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/kernel/simulator/clocks.h"
#include "compiler/kernel/simulator/shadow.h"
#include "compiler/kernel/simulator/simulate.h"

namespace rondo::kernel::simulator {

// A word is written, read, cleared (set to kEmpty) and written again. In every interleaving the clearing must
// follow all reads, and must be visible to every later reader and writer.
class Words {
 public:
  explicit Words(Clocks& clocks) : clocks_(clocks) {}

  // What the words of one instruction carry: what was known and done up to this clock.
  struct Luggage {
    std::shared_ptr<const Knowledge> knowledge;
    Clock clock = 0;
  };
  Luggage pack(const Party& party);
  // What words bring to their reader.
  struct Carried {
    explicit Carried(const Knowledge& nothing) : knowledge(nothing) {}
    Knowledge knowledge;
    const Knowledge* last = nullptr;  // neighbours mostly carry the same
  };
  void fence(const Party& party);

  std::optional<Conflict> store(const GlobalBuffer* buffer, std::int64_t index, const Thread& by,
                                std::int32_t value, const Luggage& luggage);
  // The word is there. Adds what it carries.
  std::optional<Conflict> load(const GlobalBuffer* buffer, std::int64_t index, const Thread& by,
                               Carried& carried);
  bool empty() const { return words_.empty(); }
  // Whether a plain access by this thread may meet the latest store.
  bool unordered(const GlobalBuffer* buffer, std::int64_t index, const Thread& by) const;

 private:
  struct Event {
    Thread by{-1, 0, 0};
    Clock clock = 0;
    bool happened() const { return by.block >= 0; }
  };
  struct Word {
    bool present = false;
    Event sent, cleared;
    std::shared_ptr<const Knowledge> luggage;
    std::vector<Event> readers;
  };
  // The lanes of a warp and what their latest fence published.
  struct Fence {
    Mask lanes;
    std::shared_ptr<const Knowledge> published;
  };
  Word& word(const GlobalBuffer* buffer, std::int64_t index);
  bool seen(const Thread& viewer, const Event& event) const;
  bool reached(const Thread& viewer, const Event& event) const;

  Clocks& clocks_;
  std::map<const GlobalBuffer*, std::vector<Word>> words_;
  std::map<int, std::vector<Fence>> fences_;  // by agent
};

}  // namespace rondo::kernel::simulator
