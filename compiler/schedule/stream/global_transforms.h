// The exchange through global memory, for blocks that split time and form no cluster. Each block writes the
// transform of its part of a round as self-flagging words (kernel::StoreSelfFlagged) and polls those of the
// others. A cluster answers sooner, but must fit into a group of neighbouring SMs, which leaves some SMs
// idle; blocks of the grid must only be resident all at once.
//
// Every round has words of its own, so none is cleared during the walk: an earlier launch clears all
// (exchange_clear.h).
#pragma once

#include <vector>

#include "compiler/schedule/stream/block_transforms.h"
#include "compiler/schedule/stream/kernel.h"

namespace rondo::schedule {

class GlobalTransforms final : public BlockTransforms {
 public:
  GlobalTransforms(StreamKernel& kernel, const StreamParameters& parameters, int states);

  void begin() override {}
  void send(kernel::Value round, const ScanLanes& lanes,
            const std::vector<AffineTransform>& transforms) override;
  void await(kernel::Value round, const ScanLanes& lanes) override;
  std::vector<AffineTransform> transforms(kernel::Value round, const ScanLanes& lanes, int block) override;
  void finish() override {}

 private:
  kernel::Place word(kernel::Value round, kernel::Value element);
  // Words of a lane come in vectors: of two neighbouring channels, a pair of entries.
  int vectors_of_block(const ScanLanes& lanes) const;

  StreamKernel& kernel_;
  kernel::Builder& builder_;
  TransformTable table_;  // of a round; its memory is that of all
  kernel::Array words_;   // a lane's of a round
};

}  // namespace rondo::schedule
