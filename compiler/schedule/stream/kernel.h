// What the forward and the backward stream kernels share: who owns which channels, staging of per-step
// tensors into shared memory far ahead of their use, and the walk over time.
//
// A block owns `channels` neighbouring channels of one (batch, head); a thread owns `per_thread` of them for
// all T. Time is cut into blocks of `steps`; `stages` of these are in flight as asynchronous copies, in a
// ring of shared-memory slots. With `time_split` > 1 that many blocks, a cluster or any blocks of the grid,
// own the same channels. In each round every one of them works on one stage, all at once.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/channelwise/threads.h"
#include "compiler/schedule/lower/graph.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/stream/parameters.h"
#include "compiler/schedule/sweep/sweep.h"

namespace rondo::schedule {

inline constexpr int kWarpLanes = 32;  // threads of a warp

class StreamKernel final : public ChannelThreads {
 public:
  using ChannelThreads::Kept;
  StreamKernel(std::string name, std::string comment, const Task& task, const StreamParameters& parameters,
               TimeOrder order);

  // Declares a tensor whose rows are staged. `shifted`: slot t holds the tensor at t - 1 (previous states);
  // at t = 0 the slot is filled by fill_first_step.
  int stage(TensorRef ref, bool shifted = false);
  // The same for a tensor with one value a head; head_value() is its row at the step that is emitted.
  int stage_head_values(TensorRef ref, bool shifted = false);
  kernel::Value head_value(int staged, int row) const { return inputs_now_.at({staged, row}); }
  // Declares a tensor written at each step.
  int write_each_step(TensorRef ref);
  // After all tensors are declared: takes B and T, works out the thread's place.
  void place_threads();

  // Index in the workspace, [B, time_split, H, rows, D]: each block that splits time has a row of its own.
  kernel::Value workspace_index(int rows, int row, int channel);
  // Runs `body` for threads that compute and whose channels exist; or only for those of the first segment.
  void if_active(const std::function<void()>& body);
  void if_owner(const std::function<void()>& body);
  // Runs `body` where a thread may load what its channels have: where a block holds the whole head, threads
  // without channels read the first one's, so that every thread comes to each reduction.
  void if_reading(const std::function<void()>& body);
  // Where a block holds the whole head. Pred: the thread's channels exist, invalid if all threads' do; it is
  // the one that stores what the head has once. Its place among the threads of its head, and that head's
  // among the block's, be it there or not.
  kernel::Value owns() const { return owns_; }
  kernel::Value leads() const { return leads_; }
  kernel::Value lane() const { return lane_of_head_; }
  kernel::Value head_of_block() const { return head_of_block_; }
  // Where blocks of a cluster hold a head together: this block's place among them.
  kernel::Value rank_of_head() const { return rank_of_head_; }
  // Index in a tensor without time axis that has one value a head: [B, H, rows].
  kernel::Value head_value_index(int rows, int row);

  // Emits the walk. Per step and thread the body gets staged values by (stage id, row, channel of the
  // thread), and whether it stands at t = 0 (asked for only if a tensor is shifted: that step is then emitted
  // apart).
  using Staged = std::function<kernel::Value(int, int, int)>;
  using StepBody = std::function<void(const Staged&, bool at_start)>;
  void walk(const StepBody& each_step);

  // The walk in segments. A stage has three phases. The local scan computes, for each of the thread's
  // `unroll` steps, what needs no carry. The prefix scan finds the carry that comes into each segment: every
  // thread does it after a barrier, or, where blocks split time, a warp of its own (scan_warp.h). The apply
  // phase finishes the steps. When pipelined, a stage's apply phase runs after the next stage's local scan.
  // In stages that are not whole, steps are guarded: a step that does not exist must leave no trace. Threads
  // that compute but have no channel publish and scan with the others, so that the count of threads does not
  // depend on channels.
  struct Guard {
    kernel::Value exists;    // Pred; invalid where every step exists
    kernel::Value at_start;  // Pred: t = 0; invalid where it is not
  };
  struct SegmentBody {
    std::function<void()> declare;  // registers of a stage
    std::function<void(int step, const Staged&, const Guard&)> local_scan;
    // After the local scan, and before the apply phase; stages count from 0.
    std::function<void(kernel::Value stage)> publish, prefix_scan;
    std::function<void(int step, const Guard&)> apply;
    // When pipelined: registers of the stage before; this stage becomes the stage before.
    std::function<void()> declare_kept;
    std::function<void()> keep;
    std::function<void()> scan;  // where blocks split time: all that the scan warp does
  };
  void walk_segments(const SegmentBody& body);
  // t of the step that is emitted: within StepBody and SegmentBody::local_scan.
  kernel::Value step() const { return now_.stage + now_.group + now_.ahead; }
  // Steps of the walk before that one.
  kernel::Value steps_before() const { return order_ == TimeOrder::Forward ? step() : time_ - 1 - step(); }
  // Stores one row of a tensor declared by write_each_step at the current step; values by channel of the
  // thread. Of a tensor with one value a head the first value is stored, by one thread.
  void store_row(int written, int row, const std::vector<kernel::Value>& values);
  // After the walk, where it may have ended early: what each step writes, for the steps past the end.
  void write_past_end(const Kept& kept = {});
  // The launch; `finish` may be called once.
  Launch finish();

 private:
  struct StagedTensor {
    KernelTensor tensor;
    kernel::Memory shared;
    kernel::Value base;  // element of this block's first channel, row 0, t = 0
    bool shifted = false;
  };
  // What a staging thread copies of a stage of one tensor: a vector in each of steps `begin`, `begin` +
  // `stride`, ...
  struct StagingPlace {
    int tensor = 0;
    kernel::Value mine;         // Pred: this thread has it; invalid if all do
    kernel::Value head_exists;  // Pred: the head that it is of; invalid if all do
    kernel::Value begin;        // step within the stage
    int stride = 1;             // in steps
    kernel::Value column;       // channel within the block's
    kernel::Value from;         // element of the tensor, at the stage's first step t = 0
    kernel::Value to;           // element of a slot
  };
  struct Written {
    KernelTensor tensor;
    kernel::Value base;     // element of this thread's first channel, row 0, t = 0
    kernel::Value cursor;   // the same at the current step; in pieces, at the first step of the group
    int ahead = 0;          // in pieces: the current step's distance from it
    bool per_head = false;  // it has one value a head
  };

  // Where a block holds whole heads (whole_head.cpp): the places of its threads; and what is asked of who.
  void place_heads();
  void place_tensors();
  void if_writing(const Written& written, const std::function<void()>& body);
  std::int64_t head_groups() const;  // blocks of a batch row, or clusters
  // Rows of all heads of the block that a tensor has at a step.
  int block_rows(const KernelTensor& tensor) const { return tensor.rows * parameters_.heads; }

  void place_staging(int tensor);
  StagingPlace staging_place(int tensor, kernel::Value place, kernel::Value begin, int stride);
  void each_staging(
      kernel::Value first_step, kernel::Value slot,
      const std::function<void(const StagingPlace&, kernel::Value from, kernel::Value to)>& copy);
  void copy_paced(kernel::Value first_step, kernel::Value slot);
  // Piece `piece` of `pieces` of a stage whose steps all exist.
  void copy_burst(kernel::Value first_step, kernel::Value slot, kernel::Value piece, int pieces);
  // The stage that is copied while another one is computed, at once or in bursts. copy_piece() issues a burst
  // if the stage is whole. finish_copies() copies a stage that is not whole, and closes the group of copies.
  struct Ahead {
    kernel::Value first_step, slot;
    kernel::Value whole;    // Pred: it exists, and so do all its steps
    kernel::Value partial;  // Pred: it exists, but not all its steps do
  };
  // Whether computing threads issue the copies in bursts between their steps. All of them then copy, and all
  // have channels.
  bool interleaves_copies() const {
    return parameters_.interleaved_copies && parameters_.producer_warps == 0 && channels_divide();
  }
  Ahead stage_to_copy(kernel::Value block);
  void copy_piece(const Ahead& ahead, kernel::Value piece, int pieces);
  void finish_copies(const Ahead& ahead);
  void copy_vector(const StagedTensor& staged, kernel::Value to, kernel::Value from);
  std::vector<kernel::Value> load_channels(const std::string& name, const StagedTensor& staged,
                                           kernel::Value place);
  void write_from(kernel::Value first_step);
  void next_written_step();
  void stage_ahead(kernel::Value block);
  void run_steps(kernel::Value block, kernel::Value slot, const StepBody& each_step);
  void run_group(kernel::Value first, int steps, kernel::Value count, bool at_start,
                 const StepBody& each_step);
  bool any_shifted() const;
  void each_segment_step(kernel::Value first, bool whole,
                         const std::function<void(int, kernel::Value, const Guard&)>& body);
  void walk_rounds(const SegmentBody& body);
  void sync_walk();  // of the threads that walk
  void apply_stage(kernel::Value block, const SegmentBody& body);
  void apply_previous(kernel::Value block, const SegmentBody& body);
  kernel::Value whole_stage(kernel::Value first);  // Pred: every step of the stage exists
  void local_scan(kernel::Value first, kernel::Value slot, kernel::Value whole, const SegmentBody& body);
  void apply_carries(kernel::Value first, kernel::Value whole, const SegmentBody& body);
  kernel::Value guarded(kernel::Value condition, const std::string& name, const kernel::Place& place);
  kernel::Value first_step_of(kernel::Value block);
  kernel::Value within(kernel::Value step);
  // Values that all channels share (head_values.cpp). begin_head_values() stands before the walk,
  // put_head_values() before the barrier of stage `block`. Then head_values_at() gives those of its step
  // `place` at time t.
  struct HeadValues {
    FlagReader::Values flags;
    std::map<std::pair<int, int>, kernel::Value> inputs;  // by what is staged and row
  };
  struct StagedHeadValues {
    step::TensorId tensor = -1;         // the resets
    KernelTensor input;                 // of no name: the tensor is the resets
    bool shifted = false;               // as StagedTensor has it
    int heads = 1;                      // of the block
    kernel::Memory shared;              // [2, steps, heads, rows]
    std::vector<kernel::Value> coming;  // those of the stage to come, in registers: [turn][row]
    bool is_reset() const { return !input.memory.valid(); }
    int rows() const { return is_reset() ? 1 : heads * input.rows; }
  };
  void begin_head_values();
  void load_head_values(kernel::Value block);
  kernel::Value load_head_value(const StagedHeadValues& head_values, int row, kernel::Value t);
  void put_head_values(kernel::Value block);
  HeadValues head_values_at(kernel::Value place, kernel::Value t);
  void set_head_values(HeadValues head_values);  // of the step that is emitted
  void each_head_value(const std::function<void(std::size_t, kernel::Value)>& body);
  kernel::Value computing();  // Pred: the thread computes; invalid if all do

  StreamParameters parameters_;
  TimeOrder order_;
  std::vector<StagedTensor> staged_;
  std::vector<StagingPlace> staging_;
  std::vector<Written> written_;
  std::vector<StagedHeadValues> head_values_;
  kernel::Value head_value_line_;                            // of the stage under way
  std::map<std::pair<int, int>, kernel::Value> inputs_now_;  // of the step that is emitted
  // Parts of a step's t: of the stage's first step, of the group's place in the stage, of the step's in the
  // group.
  struct Now {
    kernel::Value stage, group;
    int ahead = 0;
  };
  Now now_;
  kernel::Value slot_, first_step_;  // of the stage under way
  kernel::Value blocks_;             // how many stages this block has
  kernel::Value part_;               // of blocks that split time: place in the order of time
  bool only_computing_ = false;      // what is built now runs on threads that compute
  kernel::Value owns_, leads_, lane_of_head_, head_of_block_;
  kernel::Value head_read_;   // which of the block's heads this thread reads
  kernel::Value first_head_;  // the block's first head
  kernel::Value rank_of_head_;
};

}  // namespace rondo::schedule
