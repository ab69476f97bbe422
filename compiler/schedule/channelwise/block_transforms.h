// The exchange of affine transforms among the blocks that split time: each sends the transform of its part of
// a round to all. Only the scan warp (scan_warp.h) sends and receives.
#pragma once

#include <functional>
#include <vector>

#include "compiler/schedule/channelwise/affine_transforms.h"

namespace rondo::schedule {

// The channels of a block that a lane of the scan warp works on: pairs of neighbours, whose transforms lie
// side by side.
struct ScanLanes {
  int each = 2;         // neighbouring channels of a lane
  int lanes = 32;       // lanes that have channels
  kernel::Value lane;   // this thread's
  kernel::Value first;  // its first channel within the block's

  static ScanLanes of(int channels);  // an even number
  // Runs `action` in lanes that have channels.
  void if_any(kernel::Builder& builder, const std::function<void()>& action) const;
};

class BlockTransforms {
 public:
  virtual ~BlockTransforms() = default;
  // Before the first round; all threads of the block.
  virtual void begin() = 0;
  // Sends the transform of the block's part, by channel of the lane. Called by lanes that have channels.
  virtual void send(kernel::Value round, const ScanLanes& lanes,
                    const std::vector<AffineTransform>& transforms) = 0;
  // Waits until the transforms of all blocks have come. Called by all lanes.
  virtual void await(kernel::Value round, const ScanLanes& lanes) = 0;
  // The transforms of one block, in the order of the walk, by channel of the lane; after await().
  virtual std::vector<AffineTransform> transforms(kernel::Value round, const ScanLanes& lanes, int block) = 0;
  // After the last round; all threads of the block.
  virtual void finish() = 0;
};

}  // namespace rondo::schedule
