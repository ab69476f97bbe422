// How the blocks that split time tell each other the maps of their parts of a round. Only the warp that
// follows the carries (stream_carry.h) sends and receives.
#pragma once

#include <functional>
#include <vector>

#include "compiler/schedule/stream/maps.h"

namespace rondo::schedule {

// Which of a block's channels a lane of that warp follows: pairs of neighbours, whose maps lie side by side.
struct CarryLanes {
  int each = 2;         // neighbouring channels a lane
  int lanes = 32;       // that have channels
  kernel::Value lane;   // this thread's
  kernel::Value first;  // its first channel within the block's

  static CarryLanes of(int channels);  // an even number
  // Runs `action` in lanes that have channels.
  void if_any(kernel::Builder& builder, const std::function<void()>& action) const;
};

class BlockMaps {
 public:
  virtual ~BlockMaps() = default;
  // Before the first round; all threads of the block.
  virtual void begin() = 0;
  // The maps of the block's part, by channel of the lane. Lanes that have channels.
  virtual void send(kernel::Value round, const CarryLanes& lanes, const std::vector<FlatMap>& maps) = 0;
  // Until the maps of all blocks have come. All lanes.
  virtual void await(kernel::Value round, const CarryLanes& lanes) = 0;
  // Those of one block, in the order of the walk, by channel of the lane; after await().
  virtual std::vector<FlatMap> maps(kernel::Value round, const CarryLanes& lanes, int block) = 0;
  // After the last round; all threads of the block.
  virtual void finish() = 0;
};

}  // namespace rondo::schedule
