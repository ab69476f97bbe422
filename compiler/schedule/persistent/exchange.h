// What both forms of exchange between the blocks of a team share.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "compiler/schedule/persistent/kernel.h"

namespace rondo::schedule {

// Named barriers of the warps that multiply, each of two numbers (PersistentKernel::sync_roles).
constexpr int kStepBarrier = 1;     // the step's vectors may be read, or may be overwritten
constexpr int kCollectBarrier = 3;  // what came through global memory is in shared memory
constexpr int kPartialBarrier = 5;  // the sums of warps that only multiply are there
constexpr int kReduceBarrier = 7;   // of the computing warps alone: parts of reductions are there

// The ring of self-flagging words (Builder::store_self_flagged) through which the blocks of a team exchange:
// [teams][slots][words of a slot]. A word is cleared after its step and used again slots() steps later.
// Clearing, with its fence, comes every clear_every() steps, so both sides pass a fence in between. Steps are
// those of tiles in turn (PersistentKernel::Step::tile_step).
class GridRing {
 public:
  static constexpr int kMostSlots = 64;

  GridRing() = default;
  // Words of a slot.
  GridRing(std::int64_t words, int tiles_in_turn) : words_(words), tiles_in_turn_(tiles_in_turn) {}
  std::int64_t words() const { return words_; }
  std::int64_t team_words() const { return slots() * words_; }
  int slots() const { return slots_of(words_, tiles_in_turn_); }
  int clear_every() const { return slots() / 4; }

  void declare(PersistentKernel& kernel) { sent_ = kernel.signature().writes({Role::Exchange, -1}); }
  // A word of a step's slot.
  kernel::Place at(PersistentKernel& kernel, kernel::Value slot, kernel::Value word) const {
    auto& b = kernel.builder();
    return sent_.memory[b.wide(kernel.here().team) * team_words() + b.wide(slot * words_) + b.wide(word)];
  }

 private:
  // Fences are rare where that leaves the words of a team in the L2 and their first clearing short: with one
  // every four steps, clearing took 115 of 1289 ns a step of an LSTM of 768 units (H200, benchmarks' parts).
  // Tiles in turn need more: words are cleared that many steps later, and written again so many earlier.
  static int slots_of(std::int64_t words, int tiles_in_turn) {
    const int least = std::max(16, 8 * tiles_in_turn);
    constexpr std::int64_t kMostWords = 3 << 19;  // 6 MB
    int slots = kMostSlots;
    while (slots > least && slots * words > kMostWords) slots /= 2;
    return slots;
  }

  KernelTensor sent_;
  std::int64_t words_ = 0;
  int tiles_in_turn_ = 1;
};

// The thread's values of a vector at channels c and c + 1, two batch rows of one unit, as a matrix multiplies
// them; zero where the head has no such unit.
struct TwoRows {
  kernel::Value low, high;
};
TwoRows rows_of_unit(PersistentKernel& kernel, const std::vector<kernel::Value>& values, int channel);
// The same in words, rounded to the storage type (and to tf32, where products are).
std::vector<kernel::Value> packed_rows(PersistentKernel& kernel, const std::vector<kernel::Value>& values,
                                       int channel);
// The same in registers, for words that are used more than once.
std::vector<kernel::Value> let_words(PersistentKernel& kernel, const std::string& name,
                                     std::vector<kernel::Value> words);

// One pair of elements a lane, to every block of the cluster, this one included: `line` is where a unit's row
// of 8 elements lies. From four blocks on, the four lanes that hold the row gather it, and each sends all of
// it to a quarter of the blocks, 16 bytes at a time.
void send_to_all(PersistentKernel& kernel, const kernel::Memory& memory, kernel::Value line,
                 const std::vector<kernel::Value>& packed, int blocks, kernel::Mbarrier ready,
                 kernel::Value slot);

// Neighbouring words to one block, 16 bytes at a time.
void send_words(PersistentKernel& kernel, const kernel::Memory& memory, kernel::Value place,
                const std::vector<kernel::Value>& words, kernel::Value rank, kernel::Mbarrier ready,
                kernel::Value slot);

// Clears words at the end of every clear_every()-th step of tiles. `clear` sets this thread's words of a slot
// to kEmpty; it is called for the slots of the clear_every() steps that end with the tile's last one before
// this one. Every block has read those: this block has received what they sent afterwards, and of the tiles
// whose turns came in between it does not know yet. A thread without `clear` only fences.
// Without `fences` it passes a fence elsewhere in the same steps: the next of those comes before a word is
// used again.
void clear_slots(PersistentKernel& kernel, const GridRing& ring, kernel::Value count,
                 const std::function<void(kernel::Value slot)>& clear, bool fences = true);

}  // namespace rondo::schedule
