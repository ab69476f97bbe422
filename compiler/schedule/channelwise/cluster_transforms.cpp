#include "compiler/schedule/channelwise/cluster_transforms.h"

#include <fmt/format.h>

#include <utility>

namespace rondo::schedule {

ClusterTransforms::ClusterTransforms(ChannelThreads& kernel, TransformTable table, bool pipelined,
                                     const std::string& name)
    : kernel_(kernel), builder_(kernel.builder()), slots_(slots(pipelined)), table_(std::move(table)) {
  const std::string shape = fmt::format("[slots {}, blocks {}, entries {}, channels {}, 2]", slots_,
                                        table_.parts, table_.entries() / 2, table_.channels);
  table_.memory = builder_.shared("cluster_" + name, kernel::Storage::F32, slots_ * table_.elements(), shape);
  ready_ = builder_.mbarrier(name + "_ready", slots_, 1, fmt::format("the {} of all blocks have come", name));
}

void ClusterTransforms::expect(Value slot) {
  builder_.expect(ready_, slot, builder_.constant(4 * table_.elements()));
}

void ClusterTransforms::begin() {
  auto& b = builder_;
  b.comment("what the first rounds will bring");
  b.if_(b.thread() == 0, [&] {
    for (int slot = 0; slot < slots_; ++slot) expect(b.constant(slot));
  });
}

void ClusterTransforms::send(Value round, const ScanLanes& lanes,
                             const std::vector<AffineTransform>& transforms) {
  auto& b = builder_;
  const Value mine = part(round, kernel_.here().rank);
  for (int block = 0; block < table_.parts; ++block)
    for (int pair = 0; pair < table_.entries() / 2; ++pair)
      for (int c = 0; c < lanes.each; c += 2)
        b.store_async(table_.pair(mine, pair, lanes.first + c),
                      side_by_side(transforms, static_cast<std::size_t>(c), pair), b.constant(block), ready_,
                      round % slots_);
}

void ClusterTransforms::await(Value round, const ScanLanes& lanes) {
  auto& b = builder_;
  const Value slot = round % slots_;
  b.wait(ready_, slot, round / slots_ % 2);
  // Early bytes are safe: the phase completes only after expect_tx, its sole arrival (PTX ISA, mbarrier,
  // tx-count).
  b.if_(lanes.lane == 0, [&] { expect(slot); });
}

std::vector<AffineTransform> ClusterTransforms::transforms(Value round, const ScanLanes& lanes, int block) {
  return table_.load(builder_, part(round, builder_.constant(block)), lanes.first, lanes.each);
}

}  // namespace rondo::schedule
