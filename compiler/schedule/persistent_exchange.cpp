#include "compiler/schedule/persistent_exchange.h"

namespace rondo::schedule {

using kernel::Value;

Value packed_rows(PersistentKernel& kernel, const Problem& problem, const std::vector<Value>& values,
                  int channel) {
  auto& b = kernel.builder();
  Value low = values[static_cast<std::size_t>(channel)], high = values[static_cast<std::size_t>(channel) + 1];
  if (const Value exists = kernel.unit_exists(kernel.geometry().unit_of(channel)); exists.valid()) {
    low = b.select(exists, low, b.real(0));
    high = b.select(exists, high, b.real(0));
  }
  return b.pack(problem.storage, low, high);
}

void send_to_all(PersistentKernel& kernel, const kernel::Memory& memory, Value line, Value packed, int blocks,
                 kernel::Mbarrier ready, Value slot) {
  auto& b = kernel.builder();
  if (blocks < 4) {
    for (int peer = 0; peer < blocks; ++peer)
      b.store_async(memory[line + kernel.quarter() * 2], {packed}, b.constant(peer), ready, slot);
    return;
  }
  std::vector<Value> words;
  for (int i = 0; i < 4; ++i)
    words.push_back(b.shuffle("word", packed, kernel::ShuffleMode::Index, kernel.group() * 4 + i));
  for (int peer = 0; peer < blocks; peer += 4)
    b.store_async(memory[line], words, kernel.quarter() + peer, ready, slot);
}

void clear_slots(PersistentKernel& kernel, Value count, const std::function<void(Value slot)>& clear) {
  auto& b = kernel.builder();
  b.if_(count % kClearEvery == kClearEvery - 1, [&] {
    for (int back = 1; back <= kClearEvery; ++back) clear((count + (kSlots - back)) % kSlots);
    b.grid_fence();
  });
}

}  // namespace rondo::schedule
