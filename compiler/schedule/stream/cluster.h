// The blocks of a cluster that split time: each sends the map of its part of a round to all of them, itself
// included, by asynchronous stores into their shared memory; an mbarrier of each counts the bytes.
//
// Two slots are enough where a block reads a round's maps before it sends the next one's: who sends in round
// n + 2 has all maps of round n + 1, so the others have read those of round n, which lie in the same slot.
// With `pipelined` a block sends in round n + 2 when it has read round n (CarryWarp::follow_rounds), and four
// are enough: who sends in round n + 4 has all maps of round n + 2, so the others have read those of round n.
#pragma once

#include <vector>

#include "compiler/schedule/stream/block_maps.h"
#include "compiler/schedule/stream/kernel.h"

namespace rondo::schedule {

class ClusterMaps final : public BlockMaps {
 public:
  static constexpr int slots(bool pipelined) { return pipelined ? 4 : 2; }

  ClusterMaps(StreamKernel& kernel, const StreamParameters& parameters, int states);

  // Expects the first rounds. (Mbarriers of a cluster are ready when a kernel's body begins.)
  void begin() override;
  void send(kernel::Value round, const CarryLanes& lanes, const std::vector<FlatMap>& maps) override;
  void await(kernel::Value round, const CarryLanes& lanes) override;
  std::vector<FlatMap> maps(kernel::Value round, const CarryLanes& lanes, int block) override;
  // No block leaves while others may still send to it.
  void finish() override { builder_.cluster_barrier(); }

 private:
  void expect(kernel::Value slot);
  kernel::Value part(kernel::Value round, kernel::Value block) {
    return round % slots_ * table_.parts + block;
  }

  StreamKernel& kernel_;
  kernel::Builder& builder_;
  int slots_;
  MapTable table_;  // of all slots
  kernel::Mbarrier ready_;
};

}  // namespace rondo::schedule
