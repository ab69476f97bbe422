#include "compiler/constraint/store.h"

#include <algorithm>
#include <bit>

namespace rondo::constraint {

Store::Store(const System& system) : domains_(system.domains()) {
  for (const Domain& domain : domains_) {
    const std::size_t size = domain.values().size();
    slots_.push_back({words_.size(), domain.values().data()});
    words_.push_back(0);
    words_.push_back(size == 0 ? 0 : size - 1);
    words_.push_back(size);
    words_.insert(words_.end(), size / 64 + 1, ~std::uint64_t{0});
  }
}

// How many values between the indices, both included, are possible.
std::uint64_t Store::living(std::size_t v, std::uint64_t from, std::uint64_t to) const {
  std::uint64_t found = 0;
  for (std::uint64_t start = from / 64 * 64; start <= to; start += 64) {
    std::uint64_t bits = words_[word_of(v, start)];
    if (start < from) bits &= ~std::uint64_t{0} << (from - start);
    if (to - start < 63) bits &= ~(~std::uint64_t{0} << (to - start + 1));
    found += static_cast<std::uint64_t>(std::popcount(bits));
  }
  return found;
}

// Moves the bounds inwards to values that are alive. Precondition: at least one is, between from and to.
void Store::tighten(std::size_t v, std::uint64_t from, std::uint64_t to) {
  while (!alive(v, from)) ++from;
  while (!alive(v, to)) --to;
  if (from != first(v)) set(slots_[v].base + kFirst, from);
  if (to != last(v)) set(slots_[v].base + kLast, to);
}

bool Store::restrict(std::size_t v, Interval kept) {
  if (empty(v) || (kept.lo <= lo(v) && hi(v) <= kept.hi)) return false;
  const Value* values = slots_[v].values;
  const Value* begin = values + first(v);
  const Value* end = values + last(v) + 1;
  const auto from = static_cast<std::uint64_t>(std::lower_bound(begin, end, kept.lo) - values);
  const auto past = static_cast<std::uint64_t>(std::upper_bound(begin, end, kept.hi) - values);
  const std::uint64_t left = from < past ? living(v, from, past - 1) : 0;
  set(slots_[v].base + kCount, left);
  if (left > 0) tighten(v, from, past - 1);
  return true;
}

std::vector<Value> Store::possible(std::size_t v) const {
  std::vector<Value> list;
  for_each(v, [&](Value value, std::uint64_t) { list.push_back(value); });
  return list;
}

std::size_t Store::add_word(std::uint64_t initial) {
  words_.push_back(initial);
  return words_.size() - 1;
}

void Store::undo_to(std::size_t mark) {
  while (trail_.size() > mark) {
    words_[trail_.back().index] = trail_.back().before;
    trail_.pop_back();
  }
}

}  // namespace rondo::constraint
