// The values still possible for every variable during a search, with undo.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/constraint/interval.h"
#include "compiler/constraint/system.h"

namespace rondo::constraint {

// All mutable state is one array of words, and a trail remembers what each write replaced: going back to a
// mark costs as much as what changed since. Values outside a variable's first and last are dead whatever
// their bit says, so narrowing bounds touches two words however large the domain is.
class Store {
 public:
  explicit Store(const System& system);

  std::size_t size() const { return slots_.size(); }
  Value lo(std::size_t v) const { return value_at(v, first(v)); }
  Value hi(std::size_t v) const { return value_at(v, last(v)); }
  Interval bounds(std::size_t v) const { return {lo(v), hi(v)}; }
  std::uint64_t count(std::size_t v) const { return words_[slots_[v].base + kCount]; }
  bool fixed(std::size_t v) const { return count(v) == 1; }
  bool empty(std::size_t v) const { return count(v) == 0; }
  // The value in the middle of the index range; below hi(v) if the variable is not fixed.
  Value middle(std::size_t v) const { return value_at(v, first(v) + (last(v) - first(v)) / 2); }

  // Keep only values within the interval, or for which keep(value) is true. Returns whether anything went.
  bool restrict(std::size_t v, Interval kept);
  template <class Keep>
  bool filter(std::size_t v, const Keep& keep) {
    bool changed = false;
    for_each(v, [&](Value value, std::uint64_t index) {
      if (keep(value)) return;
      set(word_of(v, index), words_[word_of(v, index)] & ~(std::uint64_t{1} << (index % 64)));
      set(slots_[v].base + kCount, count(v) - 1);
      changed = true;
    });
    if (changed && !empty(v)) tighten(v, first(v), last(v));
    return changed;
  }
  // Calls visit(value, index), ascending. visit may remove that value.
  template <class Visit>
  void for_each(std::size_t v, const Visit& visit) const {
    if (empty(v)) return;
    const std::uint64_t end = last(v);
    for (std::uint64_t i = first(v); i <= end; ++i) {
      if (alive(v, i)) visit(value_at(v, i), i);
    }
  }
  std::vector<Value> possible(std::size_t v) const;

  // One extra word each for the caller's own undoable state.
  std::size_t add_word(std::uint64_t initial);
  std::uint64_t word(std::size_t index) const { return words_[index]; }
  void set(std::size_t index, std::uint64_t word) {
    trail_.push_back({index, words_[index]});
    words_[index] = word;
  }

  std::size_t mark() const { return trail_.size(); }
  void undo_to(std::size_t mark);

 private:
  enum : std::size_t { kFirst = 0, kLast = 1, kCount = 2, kBits = 3 };
  struct Slot {
    std::size_t base;
    const Value* values;
  };
  struct Change {
    std::size_t index;
    std::uint64_t before;
  };

  std::uint64_t first(std::size_t v) const { return words_[slots_[v].base + kFirst]; }
  std::uint64_t last(std::size_t v) const { return words_[slots_[v].base + kLast]; }
  Value value_at(std::size_t v, std::uint64_t index) const { return slots_[v].values[index]; }
  std::size_t word_of(std::size_t v, std::uint64_t index) const {
    return slots_[v].base + kBits + index / 64;
  }
  bool alive(std::size_t v, std::uint64_t index) const {
    return (words_[word_of(v, index)] >> (index % 64) & 1) != 0;
  }
  std::uint64_t living(std::size_t v, std::uint64_t from, std::uint64_t to) const;
  void tighten(std::size_t v, std::uint64_t from, std::uint64_t to);

  std::vector<Domain> domains_;  // keeps the values alive
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> words_;
  std::vector<Change> trail_;
};

}  // namespace rondo::constraint
