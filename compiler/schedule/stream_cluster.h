// The blocks of a cluster that split time: each sends the map of its part of a round to all of them, itself
// included, by asynchronous stores into their shared memory; an mbarrier of each counts the bytes.
//
// A round's maps are sent before those of the round before are read (StreamKernel::walk_segments). Four slots
// are enough: who sends in round n + 4 has all maps of round n + 2. A block sends in round n + 2 after a
// block barrier that follows its reads of round n. So the maps of round n, in the same slot, have been read
// everywhere.
#pragma once

#include <vector>

#include "compiler/schedule/stream_block_maps.h"
#include "compiler/schedule/stream_kernel.h"

namespace rondo::schedule {

class ClusterMaps final : public BlockMaps {
 public:
  static constexpr int kSlots = 4;

  ClusterMaps(StreamKernel& kernel, const StreamParameters& parameters, int states);

  // Expects the first rounds. (Mbarriers of a cluster are ready when a kernel's body begins.)
  void begin() override;
  void send(kernel::Value round, int channel, const std::vector<kernel::Value>& map) override;
  MapTable wait(kernel::Value round) override;
  // No block leaves while others may still send to it.
  void finish() override { builder_.cluster_barrier(); }

 private:
  void expect(kernel::Value slot);

  StreamKernel& kernel_;
  kernel::Builder& builder_;
  const StreamParameters& parameters_;
  MapTable table_;  // of all slots
  kernel::Mbarrier ready_;
};

}  // namespace rondo::schedule
