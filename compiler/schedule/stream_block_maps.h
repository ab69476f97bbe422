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
  // With StreamParameters::behind, where maps must be fetched: begins to before the early half of the next
  // round, and has them by the barrier in its middle.
  virtual bool fetches() const { return false; }
  virtual void look(kernel::Value /*round*/) {}
  virtual void fetch(kernel::Value /*round*/) {}
  // After the last round.
  virtual void finish() = 0;
};

}  // namespace rondo::schedule
