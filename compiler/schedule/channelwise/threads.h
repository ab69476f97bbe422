// The threads of a kernel that works on channels side by side: which channels of which batch row and head a
// block has, which of them a thread has, and where their values are found in tensors.
#pragma once

#include <functional>
#include <string>

#include "compiler/schedule/channelwise/team.h"
#include "compiler/schedule/lower/flags.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// Named barriers of a kernel with a scan warp. kWalkBarrier: for the threads that compute or stage.
// kPublishedBarrier: there the scan warp waits for published transforms; with pipeline_depth 2 only in even
// rounds, in odd ones at the number after it. kScanBarrier: for the scan warp alone. kScannedBarrier: there
// the others wait for it where rounds may last long.
constexpr int kWalkBarrier = 1, kPublishedBarrier = 2, kScanBarrier = 4, kScannedBarrier = 5;

class ChannelThreads {
 public:
  // `threads`: of a block.
  ChannelThreads(const std::string& name, int threads, const std::string& comment, const Task& task,
                 const Team& team);

  kernel::Builder& builder() { return builder_; }
  Signature& signature() { return signature_; }

  // Index of this thread's first channel in a tensor without time axis: [B, H, rows, D] or [H, rows, D]
  // (per_head).
  kernel::Value state_index(int rows, int row, int channel);
  kernel::Value state_index(int rows, int row, kernel::Value channel);  // any, within the head
  kernel::Value param_index(const step::Tensor& tensor, int row, int channel);
  kernel::Value batch_index() const { return batch_index_; }
  kernel::Value head_index() const { return head_; }
  kernel::Value channel_index(int channel) { return channel_ + channel; }  // within the head
  kernel::Value segment() const { return segment_; }                       // of the block's, this thread's
  kernel::Value lane_channel() const { return lane_; }  // this thread's first channel within the block's
  // Where blocks split time: this block's place in the order of the walk, the number of its team, and the
  // rounds of exchange that a team has.
  kernel::Value rank() const { return rank_; }
  kernel::Value team() const { return team_; }
  kernel::Value rounds() const { return rounds_; }
  // The same if no walk of any team ends early: what tables in global memory have room for.
  kernel::Value most_rounds() const { return most_rounds_.valid() ? most_rounds_ : rounds_; }
  // Flags of the sequence that the roots need: declared before the threads are placed. flag() is the value of
  // one at the step that is emitted.
  void declare_flags(const step::Graph& graph, const std::vector<step::NodeId>& roots) {
    flags_.declare(graph, roots);
  }
  kernel::Value flag(step::TensorId tensor) const { return flags_now_.at(tensor); }
  // The walk leaves out the steps past the end of a row that is shorter than T: those after it, or those
  // before it where time is reversed. Steps are then counted from the walk's first one, and what the others
  // would have written is left to who stored it (write_past_end of the kernels). Called before the threads
  // are placed.
  void stop_early() { stops_early_ = flags_.stops_early() || flags_.starts_late(); }
  // Step `step` of the walk, counted from the first that there is of T.
  kernel::Value of_whole_time(kernel::Value step) const {
    return left_out_.valid() ? step + left_out_ : step;
  }
  // Gives the channel within the head of the block's channel `place`, where it exists.
  void if_channel_exists(kernel::Value place, const std::function<void(kernel::Value)>& body);

 protected:
  // Works out the block's and the thread's place. Before it, tensors are declared; after it, `batch_` and
  // `time_` are valid too.
  void place_channels();
  // Leaves out what stop_early() asked for; once the batch row is known.
  void limit_time();
  // Element of the block's batch row, at t = 0.
  kernel::Value row_base(const KernelTensor& tensor);
  // Element of channel `first` of this block's batch row and head at t = 0, row 0.
  kernel::Value base(const KernelTensor& tensor, kernel::Value first, const std::string& suffix);
  kernel::Value index_of(kernel::Value batch_row, int rows, int row, kernel::Value channel);
  kernel::Value channel_exists();  // Pred: the thread's channels are in the head; invalid if all are
  void if_all(const std::vector<kernel::Value>& conditions, const std::function<void()>& body);
  // Neighbouring channels in as few accesses of at most 16 bytes as there can be.
  int widest(const KernelTensor& tensor) const;
  void store_channels(const KernelTensor& to, kernel::Value place, const std::vector<kernel::Value>& values,
                      kernel::CacheHint hint);
  bool channels_divide() const { return task_.problem.sizes.dim % team_parameters_.channels == 0; }
  std::int64_t tiles() const;  // of channels, in a head

  const Task& task_;
  kernel::Builder builder_;
  Signature signature_;
  kernel::Value batch_, time_, batch_index_, head_, tile_channel_, lane_, segment_, channel_;
  // A tensor written at each step: element of this thread's first channel, row 0, t = 0.
  struct PastEnd {
    const KernelTensor* tensor;
    kernel::Value base;
    kernel::Value leads = {};  // Pred, of a tensor with one value a head: this thread stores it
  };
  // Values by row and channel of the thread that stand past the end of a row; empty: zeros.
  using Kept = std::function<std::vector<kernel::Value>(std::size_t written, int row)>;
  // Writes every step past the end, spread over blocks and segments. `channels`: of a thread.
  void write_past_end(const std::vector<PastEnd>& written, int channels, kernel::CacheHint hint,
                      const Kept& kept);

  kernel::Value rank_, team_, rounds_, most_rounds_;
  kernel::Value whole_time_;  // T, where the walk may leave out steps
  kernel::Value left_out_;    // of T's steps the first that the walk makes; invalid: 0
  bool stops_early_ = false;
  FlagReader flags_;
  FlagReader::Values flags_now_;  // of the step that is emitted

 private:
  Team team_parameters_;
};

}  // namespace rondo::schedule
