// The exchange through global memory, for blocks that split time and form no cluster. Each block writes the
// transform of its part of a round as self-flagging words (kernel::StoreSelfFlagged) and polls those of the
// others. A cluster answers sooner, but must fit into a group of neighbouring SMs, which leaves some SMs
// idle; blocks of the grid must only be resident all at once.
//
// Every round has words of its own, so none is cleared during the walk: an earlier launch clears all
// (exchange_clear.h).
#pragma once

#include <vector>

#include "compiler/schedule/channelwise/block_transforms.h"
#include "compiler/schedule/channelwise/threads.h"

namespace rondo::schedule {

class GlobalTransforms final : public BlockTransforms {
 public:
  // `table`: of a round, its memory the exchange tensor. `of_round`: words of a team's round, of which these
  // begin at the `first`.
  GlobalTransforms(ChannelThreads& kernel, const TransformTable& table, std::int64_t of_round,
                   std::int64_t first);

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

  ChannelThreads& kernel_;
  kernel::Builder& builder_;
  TransformTable table_;  // of a round; its memory is that of all
  std::int64_t of_round_, first_;
  kernel::Array words_;  // a lane's of a round
};

}  // namespace rondo::schedule
