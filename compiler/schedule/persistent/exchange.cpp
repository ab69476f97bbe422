#include "compiler/schedule/persistent/exchange.h"

#include <algorithm>

#include "compiler/support/index.h"

namespace rondo::schedule {

TwoRows rows_of_unit(PersistentKernel& kernel, const std::vector<Value>& values, int channel) {
  auto& b = kernel.builder();
  const ChipElements& elements = kernel.elements();
  Value low = values[at(channel)], high = values[at(channel + 1)];
  if (const Value exists = kernel.threads().unit_exists(kernel.geometry().unit_of(channel)); exists.valid()) {
    low = b.select(exists, low, b.real(0));
    high = b.select(exists, high, b.real(0));
  }
  return {elements.operand(low), elements.operand(high)};
}

std::vector<Value> packed_rows(PersistentKernel& kernel, const std::vector<Value>& values, int channel) {
  const TwoRows rows = rows_of_unit(kernel, values, channel);
  return kernel.elements().pack(rows.low, rows.high);
}

std::vector<Value> let_words(PersistentKernel& kernel, const std::string& name, std::vector<Value> words) {
  for (Value& word : words) word = kernel.builder().let(name, word);
  return words;
}

void send_to_all(PersistentKernel& kernel, const kernel::Memory& memory, Value line,
                 const std::vector<Value>& packed, int blocks, kernel::Mbarrier ready, Value slot) {
  auto& b = kernel.builder();
  if (blocks < 4) {
    for (int peer = 0; peer < blocks; ++peer)
      b.store_async(memory[line + kernel.here().quarter * 2], packed, b.constant(peer), ready, slot);
    return;
  }
  const int of_lane = static_cast<int>(packed.size());
  std::vector<Value> words;
  for (int i = 0; i < 4 * of_lane; ++i)
    words.push_back(b.shuffle("word", packed[at(i % of_lane)], kernel::ShuffleMode::Index,
                              kernel.here().group * 4 + i / of_lane));
  for (int peer = 0; peer < blocks; peer += 4)
    send_words(kernel, memory, line, words, kernel.here().quarter + peer, ready, slot);
}

void send_words(PersistentKernel& kernel, const kernel::Memory& memory, Value place,
                const std::vector<Value>& words, Value rank, kernel::Mbarrier ready, Value slot) {
  constexpr int kMost = 4;  // PTX ISA, st.async: .v4
  const int count = static_cast<int>(words.size());
  for (int first = 0; first < count; first += kMost) {
    const std::vector<Value> piece(words.begin() + first, words.begin() + std::min(first + kMost, count));
    kernel.builder().store_async(memory[place + first * kernel.elements().per_word()], piece, rank, ready,
                                 slot);
  }
}

void clear_slots(PersistentKernel& kernel, const GridRing& ring, Value count,
                 const std::function<void(Value slot)>& clear, bool fences) {
  auto& b = kernel.builder();
  const int slots = ring.slots(), every = ring.clear_every(), turns = kernel.geometry().p.tiles_in_turn;
  b.if_(count % every == every - 1, [&] {
    if (clear)
      b.for_("back", turns, every + turns, 4,
             [&](Value back) { clear(b.let("cleared", (count + slots - back) % slots)); });
    if (fences) b.grid_fence();
  });
}

}  // namespace rondo::schedule
