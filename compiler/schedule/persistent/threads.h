// The threads of a persistent kernel: which head, batch rows and units a block has, which of them a thread
// has, and where their values are found in tensors. A channel of a thread is one unit of one batch row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/schedule/lower/walked_time.h"
#include "compiler/schedule/persistent/geometry.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/sweep/sweep.h"

namespace rondo::schedule {

class PersistentThreads {
 public:
  PersistentThreads(std::string name, std::string comment, const Task& task,
                    const PersistentParameters& parameters, TimeOrder order);

  kernel::Builder& builder() { return builder_; }
  Signature& signature() { return signature_; }
  FlagReader& flags() { return flags_; }
  const PersistentGeometry& geometry() const { return geometry_; }
  // Takes B and T, works out the places. After all tensors are declared.
  void place();

  struct Places {
    kernel::Value batch;  // B
    kernel::Value rank;   // of the block in its team
    kernel::Value team;   // the blocks that share a head: [batch tile][head]
    kernel::Value head;
    kernel::Value first_row, first_unit;  // of the block
    kernel::Value warp;                   // which of the block's units
    kernel::Value part;                   // which share of the products; 0: computes
    kernel::Value lane, group, quarter;   // group: lane / 4, the unit within a block of 8;
                                          // quarter: lane % 4, the pair of batch rows
    std::vector<kernel::Value> units;     // within the block's, by unit block
  };
  const Places& here() const { return here_; }
  kernel::Value matrix_warp() const;               // among those that hold matrices
  kernel::Value block_unit(int unit_block) const;  // this thread's, within the block's
  kernel::Value unit_index(int unit_block) const;  // the same within the head
  kernel::Value unit_exists(int unit_block);       // Pred; invalid: always
  kernel::Value batch_row(int channel) const;      // of this thread's channel, in the tile whose turn it is
  // Which of the block's tiles has its turn in what is emitted; 0 outside of these.
  int turn() const { return turn_; }
  void in_turn(int turn, const std::function<void()>& body);
  void each_turn(const std::function<void()>& body);
  // Numbers [line][tile in turn] of the tile whose turn it is.
  kernel::Value of_turn(kernel::Value line) const {
    return geometry_.p.tiles_in_turn == 1 ? line : line * geometry_.p.tiles_in_turn + turn_;
  }
  // A block's batch row and a tensor's row. Where they lie side by side, [tile in turn][row][batch row of the
  // tile], `line_row` counts the first two.
  struct RowOfBlock {
    kernel::Value batch, row;
  };
  RowOfBlock row_of_block(kernel::Value line_row, kernel::Value batch_of_tile, int rows) const;
  // Emits `body` where the channel's unit and batch row exist.
  void if_exists(int channel, const std::function<void()>& body);
  // The same for per-head values. Every thread has those of its batch rows, with the same bits: for each of
  // them, and for those that this thread stores.
  void each_head_value(const std::function<void(int channel)>& body);
  void each_stored_head_value(const std::function<void(int channel)>& body);

  // Places of this thread's channel in [B, H, rows, D], [H, rows, D] and, of its batch row, [B, H, rows].
  kernel::Value state_index(int rows, int row, int channel);
  kernel::Value param_index(const step::Tensor& tensor, int row, int channel);
  kernel::Value head_value_index(int rows, int row, int channel);
  // Elements of a tensor with a time axis at the walk's first step: of a batch row; of the block's first unit
  // in it, or of the head's value; and, at step t, of this thread's channel.
  kernel::Value row_begin(const KernelTensor& tensor, kernel::Value row) const {
    return walked_.row_begin(tensor, row);
  }
  kernel::Value base(const KernelTensor& tensor, kernel::Value row);
  kernel::Value place(const KernelTensor& tensor, int row, int channel, kernel::Value t);

  const WalkedTime& walked() const { return walked_; }
  bool forward() const { return order_ == TimeOrder::Forward; }
  kernel::Value time_of(kernel::Value count);  // t of the count-th step of the walk
  // An element one step on in the order of the walk.
  kernel::Value next(const KernelTensor& tensor, kernel::Value element) const {
    return forward() ? element + tensor.stride_t : element - tensor.stride_t;
  }
  // Emits `body` for the steps past the end of the longest row, if the walk leaves them out.
  void each_step_past_end(const std::function<void(kernel::Value t)>& body);
  const Task& task() const { return task_; }
  std::int64_t heads() const { return task_.problem.sizes.heads; }
  std::int64_t dim() const { return task_.problem.sizes.dim; }

 private:
  void limit_time();

  const Task& task_;
  PersistentGeometry geometry_;
  TimeOrder order_;
  kernel::Builder builder_;
  Signature signature_;
  FlagReader flags_;
  WalkedTime walked_;
  Places here_;
  int turn_ = 0;
};

}  // namespace rondo::schedule
