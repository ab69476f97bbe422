// The warp that scans the carries where blocks split time.
//
// A round is one stage of every block that splits time. Each computing thread makes a local scan of its
// segment and publishes the segment's affine transform. One warp of the block, the scan warp, composes the
// segments' transforms into the block's and sends it to the other blocks. From the carry of the round before
// and all blocks' transforms it computes the carry that comes into its own block. It also replaces each
// segment's transform by the exclusive prefix: the composition of the segments before it. A computing thread
// then applies its prefix to the incoming carry, half a round or a whole one later. Computing threads hold no
// carry; they synchronise once a round, for the stages of the ring.
//
//   segments' transforms  --published-->  scan warp  <--blocks' transforms-->  other scan warps
//   segments' exclusive prefixes,
//   incoming carry         <--scanned---
//
// The exclusive prefixes are computed after the block's transform is sent, so that the other blocks do not
// wait for them.
//
// Two slots are enough for each table. A thread publishes round n + 2 only after it has read the scan warp's
// results of round n, and the warp wrote these after its last read of the transforms of round n. The warp
// writes into the slot of round n only after it has waited for all transforms of round n + 2.
//
// Publishing threads arrive at a named barrier, without waiting unless there are counts. Each announces a
// round only when it knows that the scan warp has passed the barrier of the round two before.
//
// Two details exist only for racecheck of compute-sanitizer 13.0 (docs/notes/compute-sanitizer.md). All lanes
// of the warp arrive at the mbarrier `followed`. One lane could arrive for all after a barrier of the warp,
// but racecheck counts only what the arriving thread itself has done. And the scan warp waits at more
// barriers, alone. At named barriers racecheck does not track who waited with whom: it assumes that a thread
// knows what another one did if that one had waited less often. The scan warp must therefore have waited more
// often than the computing threads whose transforms it reads: once more than they. Where there are counts
// they read its results behind a named barrier too, and must have waited more often by then. So every
// thread waits at both barriers of a round. The scan warp also waits alone, as often as the others wait for
// each other.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/schedule/channelwise/block_transforms.h"
#include "compiler/schedule/channelwise/remembered_rounding.h"
#include "compiler/schedule/channelwise/threads.h"

namespace rondo::schedule {

class ScanWarp {
 public:
  static constexpr int kSlots = 2;
  // That a lane has at least, one transform of few words loaded at a time; 0 where more words decide.
  static int least_registers(const TransformPattern& pattern, int channels);

  // `counts`: with each round's transforms goes a number of every warp, and all learn the sum over the team.
  // Such rounds may last long, so threads wait for the scan at a barrier, where they sleep. (Thousands of
  // threads that try an mbarrier, and look at the clock and at the status in host memory beside, held up the
  // block that works a thousandfold.)
  // `rounding`: beside the carries goes what a plain walk's rounding has grown to where they stand.
  // `pattern`: of the segments' transforms.
  ScanWarp(ChannelThreads& kernel, const Team& parameters, const step::Cell& cell,
           const TransformPattern& pattern, bool counts = false, bool rounding = false);

  // Bytes of shared memory that the rounding takes, by channel of the block.
  static std::int64_t rounding_bytes(int states) {
    return std::int64_t{4} * kSlots * RememberedRounding::entries(states);
  }

  // Words of Role::Exchange that a round of a team takes.
  static std::int64_t exchange_words(const Team& team, const TransformPattern& pattern, bool counts = false);

  // Before and after the walk; all threads of the block.
  void begin();
  void finish() { blocks_->finish(); }

  // Called by whole warps of computing threads, with or without channels. Publishes the transforms of this
  // thread's segment in a round, by channel of the thread. `count`: the warp's number, F32, the same in all
  // lanes.
  void publish(kernel::Value round, const std::vector<AffineTransform>& transforms, kernel::Value count = {});
  // Waits for the scan, and gives the carries that come into this thread's segment, by row * channels of the
  // thread + channel. Called by whole warps of computing threads. `each` is called for each channel of the
  // thread: (channel, the transform of the block's segments before this one, the carries into the block, and
  // into the segment).
  using EachPrefix = std::function<void(int, const AffineTransform&, const std::vector<kernel::Value>&,
                                        const std::vector<kernel::Value>&)>;
  std::vector<kernel::Value> incoming_carries(kernel::Value round, const EachPrefix& each = {});
  // After incoming_carries(), with `rounding`: that of the carries into the block.
  RememberedRounding incoming_rounding(kernel::Value round, int channel);
  // After incoming_carries(): the sum of the team's counts of the round.
  kernel::Value total(kernel::Value round);

  // All that the scan warp does in the walk, from the first carries on.
  void role(const std::map<step::TensorId, KernelTensor>& first);
  struct Rounds {
    kernel::Value end;  // a variable: the round before which this ends
    // How often the computing threads wait for each other before they publish their transforms in a round;
    // none where they never do.
    std::function<kernel::Value(kernel::Value round)> turns;
    // Called after each round; may change `end`.
    std::function<void(kernel::Value round, kernel::Value total)> conclude;
  };
  // The same where every round begins again at the first carries. Needs counts; stores nothing at the end.
  // `steps`: of a block's part of time, F32; needed for the rounding.
  void role_in_rounds(const std::map<step::TensorId, KernelTensor>& first, const Rounds& rounds,
                      kernel::Value steps);

 private:
  // A number of every block to every block: the constant of an affine transform of two channels.
  static constexpr int kCountChannels = 2;
  std::unique_ptr<BlockTransforms> exchange(const Team& parameters, const TransformPattern& pattern,
                                            int channels, const std::string& name);
  void enter(const std::map<step::TensorId, KernelTensor>& first);
  void wait_alone();  // for racecheck, see above
  ScanLanes count_lanes() const;
  void send_count(kernel::Value round);
  kernel::Value scan_counts(kernel::Value round);
  int warps() const { return parameters_.computing() / 32; }
  int threads_of_sm() const;  // in blocks that the compiler is asked to leave room for
  int states() const { return table_.pattern.states(); }
  kernel::Place remembered(kernel::Value round, int entry, kernel::Value channel);
  // The place in incoming_ of one carry.
  kernel::Place incoming(kernel::Value round, int row, kernel::Value channel);
  // The signal that all segments' transforms are published: computing threads arrive, the scan warp waits.
  void sync_published(kernel::Value round, bool waits);
  void scan_rounds();
  void send(kernel::Value round);      // the block's transform, to the others
  void scan(kernel::Value round);      // waits for the blocks' transforms, and computes the incoming carries
  void announce(kernel::Value round);  // says that these are there
  std::vector<AffineTransform> compose(kernel::Value round);  // of all segments, by channel of the lane
  void settle(const TransformTable& table, std::vector<AffineTransform>& composed);
  void scan_blocks(kernel::Value round);
  void store_exclusive_prefixes(kernel::Value round);
  std::vector<TransformColumn> registers(const std::string& name);  // by channel of the lane
  TransformTable segment_transforms(kernel::Value round) const {
    return table_.starting_at(round % kSlots * table_.parts);
  }

  ChannelThreads& kernel_;
  kernel::Builder& builder_;
  const Team& parameters_;
  const step::Cell& cell_;
  bool counts_, rounding_;
  std::unique_ptr<BlockTransforms> blocks_, block_counts_;
  kernel::Memory exchange_;              // through global memory
  kernel::Memory warp_counts_, totals_;  // [slots, warps], [slots]
  // The segments' transforms, [slots, segments, ...]; the scan warp replaces them by exclusive prefixes.
  TransformTable table_;
  kernel::Memory incoming_;    // carries that come into the block, [slots, rows, channels]
  kernel::Memory remembered_;  // rounding of those, [slots, entries, channels]
  kernel::Mbarrier scanned_;
  // In the scan warp, by channel of the lane: the carries before the round, and those that come into this
  // block.
  ScanLanes lanes_;
  std::vector<TransformColumn> carries_, incoming_registers_;
  std::vector<RememberedRounding> walked_, incoming_rounding_;  // rounding of those two
  kernel::Value block_steps_;
};

}  // namespace rondo::schedule
