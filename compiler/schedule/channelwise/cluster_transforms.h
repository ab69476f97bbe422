// The exchange within a cluster: each block sends the transform of its part of a round to all blocks, itself
// included, by asynchronous stores into their shared memory; an mbarrier of each block counts the bytes.
//
// With pipeline_depth 1 a block reads all transforms of a round before it sends the next round's, and two
// slots suffice: the sender of round n + 2 has all transforms of round n + 1, so the others have read round
// n, which shares the slot. With pipeline_depth 2 a block sends round n + 2 after it has read round n
// (ScanWarp::scan_rounds), and four slots suffice: the sender of round n + 4 has all transforms of round
// n + 2, so the others have read round n.
#pragma once

#include <string>
#include <vector>

#include "compiler/schedule/channelwise/block_transforms.h"
#include "compiler/schedule/channelwise/threads.h"

namespace rondo::schedule {

class ClusterTransforms final : public BlockTransforms {
 public:
  static constexpr int slots(bool pipelined) { return pipelined ? 4 : 2; }

  // `table`: of a round, without memory, which is allocated here as `name`.
  ClusterTransforms(ChannelThreads& kernel, TransformTable table, bool pipelined, const std::string& name);

  // Expects the first rounds. (Mbarriers of a cluster are ready when a kernel's body begins.)
  void begin() override;
  void send(kernel::Value round, const ScanLanes& lanes,
            const std::vector<AffineTransform>& transforms) override;
  void await(kernel::Value round, const ScanLanes& lanes) override;
  std::vector<AffineTransform> transforms(kernel::Value round, const ScanLanes& lanes, int block) override;
  // No block leaves while others may still send to it.
  void finish() override { builder_.cluster_barrier(); }

 private:
  void expect(kernel::Value slot);
  kernel::Value part(kernel::Value round, kernel::Value block) {
    return round % slots_ * table_.parts + block;
  }

  ChannelThreads& kernel_;
  kernel::Builder& builder_;
  int slots_;
  TransformTable table_;  // of all slots
  kernel::Mbarrier ready_;
};

}  // namespace rondo::schedule
