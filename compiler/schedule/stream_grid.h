// The blocks that split time without being a cluster: each leaves the map of its part of a round in global
// memory, as words that are their own flags (kernel::StoreFlagged). A warp of every block does nothing but
// wait for them and bring them into shared memory, where the others wait at an mbarrier. Clusters answer
// sooner, but must fit into groups of neighbouring SMs, which leaves some idle; blocks of the grid only have
// to be resident all at once.
//
// Every round has a place of its own in global memory, so none is cleared on the way: the launch before this
// one does that (exchange_clear.h). In shared memory two slots are enough: the words of round n + 1 include
// the block's own, which it sends after a barrier that follows its reads of round n - 1.
#pragma once

#include <vector>

#include "compiler/schedule/stream_block_maps.h"
#include "compiler/schedule/stream_kernel.h"

namespace rondo::schedule {

class GridMaps final : public BlockMaps {
 public:
  static constexpr int kSlots = 2;

  GridMaps(StreamKernel& kernel, const StreamParameters& parameters, int states);

  void begin() override {}
  void send(kernel::Value round, int channel, const std::vector<kernel::Value>& map) override;
  MapTable wait(kernel::Value round) override;
  void role() override;
  void finish() override {}

 private:
  kernel::Place word(kernel::Value round, kernel::Value element);

  StreamKernel& kernel_;
  kernel::Builder& builder_;
  MapTable table_;     // of all slots
  KernelTensor sent_;  // [teams, rounds, blocks, entries / 2, channels, 2]
  kernel::Mbarrier ready_;
};

}  // namespace rondo::schedule
