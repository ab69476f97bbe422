// The blocks that split time without being a cluster: each leaves the map of its part of a round in global
// memory, as words that are their own flags (kernel::StoreFlagged), and waits there for those of the others.
// Clusters answer sooner, but must fit into groups of neighbouring SMs, which leaves some idle; blocks of the
// grid only have to be resident all at once.
//
// Every round has a place of its own in global memory, so none is cleared on the way: the launch before this
// one does that (exchange_clear.h).
#pragma once

#include <vector>

#include "compiler/schedule/stream/block_maps.h"
#include "compiler/schedule/stream/kernel.h"

namespace rondo::schedule {

class GridMaps final : public BlockMaps {
 public:
  GridMaps(StreamKernel& kernel, const StreamParameters& parameters, int states);

  void begin() override {}
  void send(kernel::Value round, const CarryLanes& lanes, const std::vector<FlatMap>& maps) override;
  void await(kernel::Value round, const CarryLanes& lanes) override;
  std::vector<FlatMap> maps(kernel::Value round, const CarryLanes& lanes, int block) override;
  void finish() override {}

 private:
  kernel::Place word(kernel::Value round, kernel::Value element);
  // Words of a lane come in vectors: of two neighbouring channels, a pair of entries.
  int vectors_of_block(const CarryLanes& lanes) const;

  StreamKernel& kernel_;
  kernel::Builder& builder_;
  MapTable table_;       // of a round; its memory is that of all
  kernel::Array words_;  // a lane's of a round
};

}  // namespace rondo::schedule
