#include "compiler/schedule/stream_grid.h"

#include <fmt/format.h>

#include "compiler/schedule/even_turns.h"

namespace rondo::schedule {

using kernel::Type;
using kernel::Value;

namespace {

constexpr int kWords = 4;  // of a vector
constexpr int kLanes = 32;

}  // namespace

GridMaps::GridMaps(StreamKernel& kernel, const StreamParameters& parameters, int states)
    : kernel_(kernel), builder_(kernel.builder()) {
  const int blocks = parameters.cluster;
  table_ = {{}, blocks, states, parameters.channels, {}};
  table_.memory = builder_.shared("block_maps", kernel::Storage::F32, kSlots * table_.elements(),
                                  fmt::format("[slots {}, blocks {}, entries {}, channels {}, 2]", kSlots,
                                              blocks, MapTable::entries(states) / 2, parameters.channels));
  sent_ = kernel.signature().writes({Role::Exchange, -1});
  ready_ = builder_.mbarrier("maps_ready", kSlots, kLanes, "the maps of all blocks have come");
}

kernel::Place GridMaps::word(Value round, Value element) {
  auto& b = builder_;
  const Value table = b.wide(kernel_.team()) * b.wide(kernel_.rounds()) + b.wide(round);
  return sent_.memory[table * table_.elements() + b.wide(element)];
}

void GridMaps::send(Value round, int channel, const std::vector<Value>& map) {
  auto& b = builder_;
  const Value place = kernel_.lane_channel() + channel;
  for (std::size_t pair = 0; pair < map.size() / 2; ++pair)
    b.store_flagged(word(round, table_.element(kernel_.rank(), static_cast<int>(pair), place)),
                    {map[2 * pair], map[2 * pair + 1]});
}

// All of a thread's loads are in flight at once. No lane overwrites a slot before all have their words, its
// own block's among them.
void GridMaps::role() {
  auto& b = builder_;
  const int turns = even_turns(static_cast<int>(table_.elements()) / kWords, kLanes);
  const int lanes = static_cast<int>(table_.elements()) / kWords / turns;
  const kernel::Array entries = b.array("entries", Type::F32, kWords * turns);
  const Value lane = b.let("lane", b.thread() % kLanes);
  const auto if_bringing = [&](const std::function<void()>& action) {
    lanes == kLanes ? action() : b.if_(lane < lanes, action);
  };
  b.for_("round", b.constant(0), kernel_.rounds(), b.constant(1), 1, [&](Value round) {
    if_bringing([&] {
      b.load_flagged(entries, b.constant(0), turns, word(round, lane * kWords), b.constant(lanes * kWords));
    });
    b.warp_sync();
    const Value slot = b.let("slot", round % kSlots);
    if_bringing([&] {
      for (int turn = 0; turn < turns; ++turn) {
        std::vector<Value> vector;
        for (int i = 0; i < kWords; ++i) vector.push_back(b.read(entries, b.constant(turn * kWords + i)));
        b.store_vector(table_.memory[slot * table_.elements() + (lane + turn * lanes) * kWords], vector);
      }
    });
    b.arrive(ready_, slot);
  });
}

MapTable GridMaps::wait(Value round) {
  MapTable table = table_;
  const Value slot = round % kSlots;
  builder_.wait(ready_, slot, round / kSlots % 2);
  table.first = slot * table_.parts;
  return table;
}

}  // namespace rondo::schedule
