#include "compiler/schedule/stream_cluster.h"

#include <fmt/format.h>

namespace rondo::schedule {

using kernel::Value;

ClusterMaps::ClusterMaps(StreamKernel& kernel, const StreamParameters& parameters, int states)
    : kernel_(kernel), builder_(kernel.builder()), parameters_(parameters) {
  const int blocks = parameters.cluster;
  table_ = {{}, blocks, states, parameters.channels, {}};
  const std::string shape = fmt::format("[slots {}, blocks {}, entries {}, channels {}, 2]", kSlots, blocks,
                                        MapTable::entries(states) / 2, parameters.channels);
  table_.memory = builder_.shared("cluster_maps", kernel::Storage::F32, kSlots * table_.elements(), shape);
  ready_ = builder_.mbarrier("maps_ready", kSlots, 1, "the maps of all blocks have come");
}

void ClusterMaps::expect(Value slot) {
  builder_.expect(ready_, slot, builder_.constant(4 * table_.elements()));
}

void ClusterMaps::begin() {
  auto& b = builder_;
  b.comment("what the first rounds will bring");
  b.if_(b.thread() == 0, [&] {
    for (int slot = 0; slot < kSlots; ++slot) expect(b.constant(slot));
  });
}

void ClusterMaps::send(Value round, int channel, const std::vector<Value>& map) {
  auto& b = builder_;
  const Value slot = round % kSlots;
  const Value mine = slot * parameters_.cluster + kernel_.rank();
  const Value place = kernel_.lane_channel() + channel;
  for (int block = 0; block < parameters_.cluster; ++block)
    for (std::size_t pair = 0; pair < map.size() / 2; ++pair)
      b.store_async(table_.pair(mine, static_cast<int>(pair), place), {map[2 * pair], map[2 * pair + 1]},
                    b.constant(block), ready_, slot);
}

MapTable ClusterMaps::wait(Value round) {
  auto& b = builder_;
  MapTable table = table_;
  const Value slot = round % kSlots;
  b.wait(ready_, slot, round / kSlots % 2);
  // Late is soon enough: bytes that come before they are expected are counted too (PTX ISA, mbarrier,
  // tx-count).
  b.if_(b.thread() == 0, [&] { expect(slot); });
  table.first = slot * parameters_.cluster;
  return table;
}

}  // namespace rondo::schedule
