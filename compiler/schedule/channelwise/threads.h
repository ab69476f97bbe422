// The threads of a kernel that works on channels side by side: which channels of which batch row and head a
// block has, which of them a thread has, and where their values are found in tensors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/schedule/channelwise/team.h"
#include "compiler/schedule/lower/flags.h"
#include "compiler/schedule/lower/walked_time.h"
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
  virtual ~ChannelThreads() = default;

  kernel::Builder& builder() { return builder_; }
  Signature& signature() { return signature_; }
  // The sequence's flags: declared before the threads are placed.
  FlagReader& flags() { return flags_; }
  // The walk leaves out the steps past the end of a row that is shorter than T; what they would have written
  // is left to who stored it (WrittenRows::write_past_end). Called before the threads are placed.
  void stop_early() { stops_early_ = flags_.stops_early() || flags_.starts_late(); }
  bool stops_early() const { return stops_early_; }
  // Works out the block's and the thread's place. After all tensors are declared.
  void place_channels();
  void set_rounds(int rounds) { rounds_ = builder_.constant(rounds); }

  // The row of a tensor that is the thread's `row`: of one whose rows are dealt, among those of its lane.
  kernel::Value own_row(const KernelTensor& tensor, int row);
  // The same of so many rows, dealt or not; and of rows of an internal tensor, those from `first` on.
  kernel::Value own_row(int rows, int row, bool dealt, int first = 0);
  // Pred: the thread writes what is the same for all rows of its channels; invalid if it has all of them.
  kernel::Value first_of_rows();

  // Index of this thread's first channel in a tensor without time axis: [B, H, rows, D] or [H, rows, D]
  // (per_head).
  kernel::Value state_index(int rows, kernel::Value row, int channel);
  kernel::Value state_index(int rows, int row, int channel);
  kernel::Value state_index(int rows, kernel::Value row, kernel::Value channel);  // any, within the head
  kernel::Value param_index(const KernelTensor& tensor, int row, int channel);
  // Index in a tensor without time axis that has one value a head: [B, H, rows].
  kernel::Value head_value_index(int rows, kernel::Value row);
  // What channel `channel` of the head carries before its first step, of a tensor without time axis. Where
  // the head has one value all channels carry a copy of it; backward each carries its share of the gradient,
  // and what is given is the first channel's.
  kernel::Value first_carry(const KernelTensor& first, const step::Row& row, kernel::Value channel);
  // Pred: the thread has the head's first channel, and stores what the head has once.
  kernel::Value leads();
  // Of a tensor with a time axis, at the walk's first step: element of the block's batch row; of channel
  // `first` of its head; of this thread's first channel, or of the head's value.
  kernel::Value row_base(const KernelTensor& tensor);
  kernel::Value base(const KernelTensor& tensor, kernel::Value first, const std::string& suffix);
  kernel::Value own_base(const KernelTensor& tensor);

  struct Places {
    kernel::Value batch_row, head;  // of the block, or of the thread where a block holds several heads
    kernel::Value tile_channel;     // the block's first channel, within the head
    kernel::Value lane_channel;     // the thread's first channel, within the block's
    kernel::Value channel;          // the same within the head
    kernel::Value segment;          // of the block's, the thread's
    kernel::Value row_lane;         // the thread's place among those that hold its channels together
    // Where rows are dealt all threads walk, since their lanes exchange. Pred: the thread's channels exist;
    // invalid if all do. Those without read what the block's first channel has, and store nothing.
    kernel::Value owns;
    // Where blocks split time: the block's place in the order of the walk, and the number of its team.
    kernel::Value rank, team;
  };
  const Places& here() const { return here_; }
  kernel::Value channel_index(int channel) const { return here_.channel + channel; }  // of the thread's
  // The rounds of exchange that a team has; and if no walk of any team ends early: what tables in global
  // memory have room for.
  kernel::Value rounds() const { return rounds_; }
  kernel::Value most_rounds() const { return most_rounds_.valid() ? most_rounds_ : rounds_; }
  kernel::Value time() const { return walked_.steps(); }  // steps of the walk
  const WalkedTime& walked() const { return walked_; }

  std::int64_t dim() const { return task_.problem.sizes.dim; }
  std::int64_t tiles() const;  // of channels, in a head
  kernel::Value blocks_of_grid() { return batch_ * blocks_of_batch_row(); }
  bool channels_divide() const { return dim() % team_parameters_.channels == 0; }
  const Team& team() const { return team_parameters_; }
  kernel::Value channel_exists();  // Pred: the thread's channels are in the head; invalid if all are
  // Gives the channel within the head of the block's channel `place`, where it exists.
  void if_channel_exists(kernel::Value place, const std::function<void(kernel::Value)>& body);
  // Where all conditions hold that are valid.
  void if_all(const std::vector<kernel::Value>& conditions, const std::function<void()>& body);
  // Emits `body` for the steps that the walk leaves out, spread over blocks and segments.
  void each_past_end(const std::function<void(kernel::Value)>& body);
  // The launch; once, when all of it is built.
  Launch finish();
  // Elements of an access of 16 bytes.
  static int widest(const KernelTensor& tensor) { return 16 / kernel::storage_bytes(tensor.storage); }

 protected:
  virtual std::int64_t blocks_of_batch_row() const;  // of the kernel's grid
  // Leaves out what stop_early() asked for; once the batch row is known.
  void limit_time();
  kernel::Value index_of(kernel::Value batch_row, int rows, kernel::Value row, kernel::Value channel);

  const Task& task_;
  kernel::Builder builder_;
  Signature signature_;
  kernel::Value batch_, rounds_, most_rounds_;
  Places here_;
  WalkedTime walked_;
  FlagReader flags_;

 private:
  Team team_parameters_;
  bool stops_early_ = false;
};

}  // namespace rondo::schedule
