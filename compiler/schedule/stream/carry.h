// Where blocks split time, one warp of each does nothing but follow the carries. Threads that compute leave
// it the maps of their segments; it sends the others the block's map, composed of those, and takes theirs;
// from the carry of the round before and all blocks' maps follows the carry before the block's part. Those
// that compute apply to that the map of the segments before theirs, half a round or a whole one later: they
// meet once a round, for the stages of the ring, and hold no carry.
//
//   segments' maps  --published-->  the warp  <--block maps-->  the other blocks' warps
//   maps of the segments before,
//   carry before the block  <--followed--
//
// Others wait for what the warp does between the two signals, so what need not stand there does not: the maps
// of the segments before are made after.
//
// Two slots are enough for all tables. Who publishes round n + 2 has read what the warp left for it in round
// n, after it had read all maps of round n. The warp writes into the slot of round n when it has waited for
// all maps of round n + 2.
//
// Threads that publish go on, so they come to a named barrier without waiting; each announces a round only
// when it knows that the warp has come for the one two before.
//
// Two things are as they are for racecheck of compute-sanitizer 13.0. All lanes of the warp arrive at
// `followed`: one that arrived for all after a barrier of the warp would order as much, but racecheck counts
// only what the arriving thread itself has done. And with named barriers it does not ask who met whom: it
// takes for known to a thread what another did when that one had waited at fewer of them. Those that compute
// wait once a round before they publish, the warp once a round for what they published; so the warp waits
// once more, alone.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/schedule/stream/block_maps.h"
#include "compiler/schedule/stream/kernel.h"

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
  // what its segment starts from, once that is known, by row * channels of the thread + channel.
  std::vector<kernel::Value> starts(kernel::Value round);

  // All of the warp that follows the carries.
  void role(const CarryEnds& ends);

 private:
  int states() const { return table_.states; }
  // Place in befores_.
  kernel::Place before(kernel::Value round, int row, kernel::Value channel);
  // The maps of all segments are there: threads that compute say so, the warp waits for it.
  void meet_published(kernel::Value round, bool waits);
  void follow_rounds();
  void send(kernel::Value round);
  void follow(kernel::Value round);
  std::vector<FlatMap> compose(kernel::Value round);
  void follow_blocks(kernel::Value round);
  void store_maps_before(kernel::Value round);
  std::vector<MapColumn> registers(const std::string& name);  // by channel of the lane
  MapTable segment_maps(kernel::Value round) const {
    return table_.starting_at(round % kSlots * table_.parts);
  }
  // The first or the last value of every carry of this lane.
  void each_carry(
      const std::function<void(const step::Row&, kernel::Value place, kernel::Value carry)>& body);

  StreamKernel& kernel_;
  kernel::Builder& builder_;
  const StreamParameters& parameters_;
  const step::Cell& cell_;
  std::unique_ptr<BlockMaps> blocks_;
  // The segments' maps, [slots, segments, ...]; the warp puts those of the segments before in their places.
  MapTable table_;
  kernel::Memory befores_;  // the carries before the block's part, [slots, rows, channels]
  kernel::Mbarrier followed_;
  // In the role, by channel of the lane: the carries before the round, and before this block's part.
  CarryLanes lanes_;
  std::vector<MapColumn> carries_, before_;
};

}  // namespace rondo::schedule
