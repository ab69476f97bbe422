// The threads of a stream kernel. A block has `channels` neighbouring channels of one batch row and head, or
// all channels of `heads` heads, or, in a cluster, its share of one head's; a thread has `per_thread` of them
// for all of T. With `time_split` > 1 that many blocks, of a cluster or any of the grid, have the same
// channels, and each one stage of a round.
//
// Where threads reduce over heads, all of them walk, so that all come to every reduction. Those without
// channels, or whose head does not exist, read what the block's first channel of a head has; they give
// nothing to sums and store nothing.
#pragma once

#include <functional>
#include <string>

#include "compiler/schedule/channelwise/threads.h"
#include "compiler/schedule/stream/parameters.h"
#include "compiler/schedule/sweep/sweep.h"

namespace rondo::schedule {

inline constexpr int kWarpLanes = 32;  // threads of a warp

class StreamThreads final : public ChannelThreads {
 public:
  StreamThreads(const std::string& name, const std::string& comment, const Task& task,
                const StreamParameters& parameters, TimeOrder order);
  // Takes B and T, works out the thread's place. After all tensors are declared.
  void place();

  const StreamParameters& parameters() const { return parameters_; }
  bool forward() const { return order_ == TimeOrder::Forward; }
  kernel::Value blocks() const { return rounds_; }  // how many stages this block has
  kernel::Value first_step_of(kernel::Value block);
  kernel::Value last_step() const { return time() - 1; }
  kernel::Value part() const { return part_; }  // of the blocks that split time, this one's, in order of time
  // Index in the workspace, [B, time_split, H, rows, D]: each block that splits time has a row of its own.
  kernel::Value workspace_index(int rows, kernel::Value row, int channel);

  kernel::Value computing();  // Pred: the thread computes; invalid if all do
  // Emits what runs on threads that compute alone.
  void on_computing(const std::function<void()>& body);
  // Emits `body` for threads that compute and whose channels exist; or only for those of the first segment.
  void if_active(const std::function<void()>& body);
  void if_owner(const std::function<void()>& body);
  // The same where a thread may load what its channels have: where threads exchange, all may.
  void if_reading(const std::function<void()>& body);

  // Where a block holds whole heads.
  struct WholeHeads {
    kernel::Value owns;      // Pred: the thread's channels exist; invalid if all threads' do
    kernel::Value leads;     // Pred: it stores what the head has once
    kernel::Value lane;      // the thread's place among those of its head
    kernel::Value of_block;  // its head's place among the block's, be it there or not
    kernel::Value read;      // which of the block's heads it reads
    kernel::Value first;     // the block's first head
    kernel::Value rank;      // the block's place among those of a cluster that hold a head together
  };
  const WholeHeads& whole_heads() const { return heads_; }
  // Whether the last block may have fewer heads than the others.
  bool heads_divide() const { return task_.problem.sizes.heads % parameters_.heads == 0; }
  std::int64_t head_count() const { return task_.problem.sizes.heads; }

 private:
  std::int64_t blocks_of_batch_row() const override;
  void place_heads();
  std::int64_t head_groups() const;  // blocks of a batch row, or clusters

  StreamParameters parameters_;
  TimeOrder order_;
  kernel::Value part_;           // of blocks that split time: place in the order of time
  bool only_computing_ = false;  // what is built now runs on threads that compute
  WholeHeads heads_;
};

}  // namespace rondo::schedule
