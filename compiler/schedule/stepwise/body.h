// The elementwise part of a kernel of a step: the channels of a thread, their operands in memory, and the
// places of their results. Channels of a block, [batch][units], are dealt to its threads, neighbouring units
// to neighbouring threads.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "compiler/schedule/analysis/step_stages.h"
#include "compiler/schedule/lower/flags.h"
#include "compiler/schedule/lower/graph.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/stepwise/sweep.h"
#include "compiler/schedule/sweep/sweep.h"

namespace rondo::schedule {

class StepwiseBody {
 public:
  StepwiseBody(kernel::Builder& builder, Signature& signature, const Task& task, const StepTile& shape,
               const Sweep& sweep, const StepStages& stages);

  // A stage at a step: declares what it reads and writes.
  struct Part {
    const StepStage* stage;
    bool next = false;  // of the step after the launch's
    kernel::Value count, time, parity;
    GraphLowering lowering;
    std::map<step::NodeId, std::vector<kernel::Value>> reads;  // by node and turn, where they are read early
    std::map<std::size_t, std::vector<kernel::Value>> sums;    // by root
    // Where they are read at their use (StepTile): who is given, and whether there are sums to add to.
    std::function<bool(step::NodeId)> is_given = {};
    bool adds_to_sums = false;
    // By vector of a reduction that is made here, and turn: variables, neutral where there is no channel.
    std::map<step::NodeId, std::vector<kernel::Value>> shares;
  };
  Part declare(const StepStage& stage, bool next);
  void declare_kept();                       // carries and vectors
  void declare_ends(bool first, bool last);  // where carries begin or end
  void place_threads(kernel::Value batch, kernel::Value time);
  // Emits `body` for the channels of all turns; in a loop over the rows where the tile says so. What depends
  // on a turn's channel may be emitted there alone.
  void for_rows(const std::function<void()>& body);
  void set_step(Part& part, kernel::Value count);  // which step it is at
  kernel::Value time_of(kernel::Value count);
  // Where rows have lengths: the tensor of them is declared; then, Pred, whether any row of the block has the
  // step after `count` others.
  bool declare_lengths() { return flags_.declare_lengths(); }
  kernel::Value any_within(kernel::Value count);

  int turns() const { return shape_.turns(); }
  bool row_by_row() const { return shape_.row_by_row; }
  void if_exists(int turn, const std::function<void()>& body);
  // Reads what the part needs of memory into registers, far ahead of its use; `given` nodes come from
  // elsewhere, and so do all carries if `carries_given`.
  void read_ahead(Part& part, kernel::Value condition, bool sums_exist,
                  const std::function<bool(step::NodeId)>& given);
  // The same for one turn alone.
  void read_turn(Part& part, int turn, kernel::Value condition, bool sums_exist,
                 const std::function<bool(step::NodeId)>& given);
  // What is reduced over the head: declares the turn's shares before its channels are computed; and when
  // those of turns [first, end), all of one row, are, hands on what the block's part of the row comes to.
  void begin_shares(Part& part, int turn);
  void hand_on(Part& part, int first, int end);
  // Asks for the inputs and saved values that all turns of a row of the block will read.
  void ask_for_row(const Part& part, kernel::Value row);
  // Computes a part for one turn and stores its results. `given` gives the values of nodes that were not read
  // ahead.
  using Given = std::function<kernel::Value(step::NodeId)>;
  std::vector<kernel::Value> emit(Part& part, int turn,
                                  const Given& given);  // by root; invalid: other stages'

  kernel::Value first_carry(int turn, std::size_t k);                  // as the caller gives it
  kernel::Value carry(int turn, std::size_t k, kernel::Value parity);  // as a step has left it
  void store_carry(int turn, std::size_t k, kernel::Value parity, kernel::Value value);
  void store_last(int turn, std::size_t k, kernel::Value value);
  void clear_sum(int turn, int row);
  void clear_padding();  // columns of the vectors past the head's end, once for all steps

  kernel::Value tile() const { return tile_; }
  kernel::Value head() const { return head_; }
  kernel::Value first_row() const { return first_row_; }
  kernel::Value batch() const { return batch_; }
  kernel::Value unit_of_block(int turn) const { return channels_[static_cast<std::size_t>(turn)].unit; }
  kernel::Value row_of_block(int turn) const { return channels_[static_cast<std::size_t>(turn)].row; }
  kernel::Memory vectors() const { return vectors_.memory; }

  // Elements of Role::Carries of a batch row and head: rows of D (carries by parity, kept values, what goes
  // along the head by parity), and then parts of what is reduced over the head, [reduction][parity][part].
  static std::int64_t carry_elements(const Sweep& sweep, const StepStages& stages, const StepTile& tile);

 private:
  struct Channel {
    kernel::Value unit, row;  // within the block
    kernel::Value channel, batch_row;
    kernel::Value exists;
  };
  static int carry_rows(const Sweep& sweep, const StepStages& stages);
  kernel::Value carry_place(kernel::Value row, int turn);  // of Role::Carries
  kernel::Value part_place(std::size_t reduction, kernel::Value parity, int turn);
  void bring_totals(Part& part, int turn);
  std::size_t number_of(const Reduction& reduction) const {
    return static_cast<std::size_t>(&reduction - stages_.reductions.data());
  }
  kernel::Value number_of_part(int turn);
  void store_part(const Part& part, const Reduction& reduction, int turn, kernel::Value of_part);
  // What goes along the head (along.cpp).
  kernel::Value along_place(const Reduction& reduction, kernel::Value parity, kernel::Value channel,
                            int turn);
  void hand_on_along(Part& part, const Reduction& reduction, int first, int end);
  kernel::Value bring_along(Part& part, const Reduction& reduction, int turn);
  kernel::Value spread_of_parts(Part& part, const Reduction& reduction, int turn,
                                const std::function<kernel::Value(kernel::Value)>& at_part);
  kernel::Value sum_of_parts(int turn, const std::function<kernel::Value(kernel::Value)>& at_part,
                             scalar::Op op);
  kernel::Value over_lanes(kernel::Value share, scalar::Op op);
  kernel::Value row_exists(int turn);
  kernel::Value channels_of_part(int turn);
  bool is_head_value(TensorRef ref) const;
  void once(bool per_head, int turn, const std::function<void()>& body);
  void place_turns(kernel::Value row);  // `row`: of all turns, where it is one; else invalid
  bool is_read(const Part& part, step::NodeId node) const;
  // What a part reads of memory: nodes, and sums (root and row) that it adds to.
  struct Reads {
    std::vector<step::NodeId> nodes;
    std::vector<std::pair<std::size_t, int>> sums;
    bool any() const { return !nodes.empty() || !sums.empty(); }
  };
  Reads reads(const Part& part, bool sums_exist, const std::function<bool(step::NodeId)>& given) const;
  void declare_once(TensorRef ref, bool written);
  const KernelTensor& declared(TensorRef ref) const;
  kernel::Value place(const KernelTensor& tensor, int row, kernel::Value time, int turn);
  kernel::Value end_place(const KernelTensor& tensor, int row, int turn);  // of states, first or last
  kernel::Value boundary(int rows, kernel::Value row, int turn);           // of [B, H, rows, D]
  kernel::Value read(const Part& part, step::NodeId node, int turn);
  std::string read_name(const step::Node& node, step::NodeId id) const;  // in emitted text
  kernel::Value param(const step::Node& leaf, int turn);
  void keep(const Part& part, int turn, GraphLowering::Values& values, const Given& given);
  void store(const Part& part, const SweepSink& sink, int turn, std::size_t root, kernel::Value value);
  const step::Tensor& tensor(step::TensorId id) const { return task_.cell.tensor(id); }

  kernel::Builder& builder_;
  Signature& signature_;
  const Task& task_;
  const StepTile& shape_;
  const Sweep& sweep_;
  const StepStages& stages_;
  std::vector<KernelTensor> tensors_;  // each once
  FlagReader flags_;
  KernelTensor carries_, vectors_, sums_;
  kernel::Memory lanes_;  // of a row, where threads do not shuffle
  kernel::Value batch_, time_, tile_, head_, first_row_;
  std::vector<Channel> channels_;
};

}  // namespace rondo::schedule
