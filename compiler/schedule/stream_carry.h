// Where blocks split time, one warp of each does nothing but follow the carries. Threads that compute leave it
// the maps of their segments; it sends the others the block's map, composed of those, and takes theirs; from
// the carry of the round before and all blocks' maps it works out what each segment starts from, and what the
// round leaves. Those that compute only read where they start, half a round or a whole one later: they meet
// once a round, for the stages of the ring, and hold no carry.
//
//   segments' maps --published--> the warp <--block maps--> the other blocks' warps
//   segments' starts <--started--
//
// Two slots are enough for both tables. Who publishes round n + 2 has read its starts of round n, which were
// stored after all maps of round n were read. The warp stores the starts of round n + 2 after it has waited
// for all maps of that round, so after everyone has read those of round n.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/schedule/stream_block_maps.h"
#include "compiler/schedule/stream_kernel.h"

namespace rondo::schedule {

// The carries' first values and where their last ones go, [B, H, rows, D] fp32, by state.
struct CarryEnds {
  std::map<step::TensorId, KernelTensor> first, last;
  std::string what;  // the last ones, for the emitted text
};

class CarryWarp {
 public:
  static constexpr int kSlots = 2;

  CarryWarp(StreamKernel& kernel, const StreamParameters& parameters, const step::Cell& cell);

  // Before and after the walk; all threads of the block.
  void begin() { blocks_->begin(); }
  void finish() { blocks_->finish(); }

  // Threads that compute, with or without channels, warp by warp:
  // the map of this thread's segment in a round, by channel of the thread;
  void publish(kernel::Value round, const std::vector<FlatMap>& maps);
  // what its segment starts from, by row * channels of the thread + channel.
  std::vector<kernel::Value> starts(kernel::Value round);

  // All of the warp that follows the carries.
  void role(const CarryEnds& ends);

 private:
  int states() const { return table_.states; }
  // Places in starts_ of a row and channel.
  kernel::Place start(kernel::Value round, int row, kernel::Value segment, kernel::Value channel);
  void follow_round(kernel::Value round);
  std::vector<FlatMap> compose(kernel::Value round);
  void follow_blocks(kernel::Value round);
  void store_starts(kernel::Value round);
  MapTable segment_maps(kernel::Value round) const { return table_.starting_at(round % kSlots * table_.parts); }
  // The first or the last value of every carry of this lane.
  void each_carry(const std::function<void(const step::Row&, kernel::Value place, kernel::Value carry)>& body);

  StreamKernel& kernel_;
  kernel::Builder& builder_;
  const StreamParameters& parameters_;
  const step::Cell& cell_;
  std::unique_ptr<BlockMaps> blocks_;
  MapTable table_;         // the segments' maps, [slots, segments, ...]
  kernel::Memory starts_;  // [slots, rows, segments, channels]
  kernel::Mbarrier published_, started_;
  // In the role, by channel of the lane: the carries before the round, and before this block's part.
  CarryLanes lanes_;
  std::vector<MapColumn> carries_, before_;
};

}  // namespace rondo::schedule
