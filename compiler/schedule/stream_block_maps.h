// How the blocks that split time tell each other the maps of their parts of a round.
#pragma once

#include <vector>

#include "compiler/schedule/stream_maps.h"

namespace rondo::schedule {

class BlockMaps {
 public:
  virtual ~BlockMaps() = default;
  // Before the first round.
  virtual void begin() = 0;
  // The map of the block's part, row after row. The threads of one segment call it, those without a channel
  // too.
  virtual void send(kernel::Value round, int channel, const std::vector<kernel::Value>& map) = 0;
  // All computing threads call what follows.
  // The maps of all blocks, in the order of the walk, once all have come.
  virtual MapTable wait(kernel::Value round) = 0;
  // What a warp of its own does for all rounds while others compute (StreamParameters::grid); else nothing.
  virtual void role() {}
  // After the last round.
  virtual void finish() = 0;
};

}  // namespace rondo::schedule
