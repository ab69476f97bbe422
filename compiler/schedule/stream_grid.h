// The blocks that split time without being a cluster: each leaves the map of its part of a round in global
// memory, as words that are their own flags (kernel::StoreFlagged), and brings those of all blocks into shared
// memory. Every round has a place of its own, so none is cleared on the way: the launch before this one does
// that (exchange_clear.h). Clusters answer sooner, but must fit into groups of neighbouring SMs, which leaves
// some idle; blocks of the grid only have to be resident all at once.
#pragma once

#include <functional>
#include <vector>

#include "compiler/schedule/stream_block_maps.h"
#include "compiler/schedule/stream_kernel.h"

namespace rondo::schedule {

class GridMaps final : public BlockMaps {
 public:
  GridMaps(StreamKernel& kernel, const StreamParameters& parameters, int states);

  void begin() override;
  void send(kernel::Value round, int channel, const std::vector<kernel::Value>& map) override;
  // All threads of the block call these. The table is read before the first barrier of the next stage.
  MapTable wait(kernel::Value round) override;
  bool fetches() const override { return parameters_.behind; }
  void look(kernel::Value round) override;
  void fetch(kernel::Value round) override;
  void finish() override {}

 private:
  kernel::Place word(kernel::Value round, kernel::Value element);
  int bringing() const;  // threads that bring maps
  void if_bringing(const std::function<void()>& action);
  void bring(kernel::Value round, kernel::Look look);
  void spread();

  StreamKernel& kernel_;
  kernel::Builder& builder_;
  const StreamParameters& parameters_;
  MapTable table_;  // of one round
  KernelTensor sent_;  // [teams, rounds, blocks, entries / 2, channels, 2]
  int turns_;  // vectors a thread brings
  kernel::Array collected_;
};

}  // namespace rondo::schedule
