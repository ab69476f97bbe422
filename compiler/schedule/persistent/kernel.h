// The frame of a persistent kernel: places of threads, the ring of staged inputs and the ring of results, and
// the three roles of warps that meet at mbarriers. What computing warps do in a step is the caller's.
//
//   producer warps  --full-->  computing warps  --filled--->  store warps
//                   <-empty--                   <-drained--
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/lower/flags.h"
#include "compiler/schedule/persistent/elements.h"
#include "compiler/schedule/persistent/flag_window.h"
#include "compiler/schedule/persistent/geometry.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/sweep/sweep.h"

namespace rondo::schedule {

class PersistentKernel {
 public:
  PersistentKernel(std::string name, std::string comment, const Task& task,
                   const PersistentParameters& parameters, TimeOrder order);

  kernel::Builder& builder() { return builder_; }
  Signature& signature() { return signature_; }
  const PersistentGeometry& geometry() const { return geometry_; }
  const ChipElements& elements() const { return *elements_; }

  // Declares a tensor whose rows are staged; `shifted`: slot t holds step t - 1, nothing at t = 0.
  int stage(TensorRef ref, bool shifted = false);
  // Declares a tensor written at each step.
  int write_each_step(TensorRef ref);
  // Declares what sums over the head make: a tensor with one value a head, written at each step, or, where
  // several blocks share the head, each one's share of it ([B, T, H, rows, blocks]). Step::store adds the
  // channels up.
  int write_sums(TensorRef ref);
  // Declares the flags of the sequence that the roots need.
  void declare_flags(const step::Graph& graph, const std::vector<step::NodeId>& roots) {
    flags_.declare(graph, roots);
  }
  // After all tensors are declared.
  void place_threads();

  // Places of this thread's channel in [B, H, rows, D] and [H, rows, D].
  kernel::Value state_index(int rows, int row, int channel);
  kernel::Value param_index(const step::Tensor& tensor, int row, int channel);
  kernel::Value head_value_index(int rows, int row, int channel);  // in [B, H, rows], of the batch row
  kernel::Value unit_index(int unit_block);                        // channel within the head
  kernel::Value batch_row(int channel);                            // of this thread's channel
  kernel::Value first_unit() const { return first_unit_; }         // of this block
  kernel::Value rank() const { return rank_; }                     // of this block in its team
  kernel::Value head() const { return head_; }
  kernel::Value team() const { return team_; }  // which blocks share a head: [batch tile][head]
  kernel::Value warp() const { return warp_; }  // which units
  kernel::Value part() const { return part_; }  // which share of the products; 0: computes
  kernel::Value matrix_warp() const;            // number among those that hold matrices
  kernel::Value time() const {
    return time_;
  }  // steps of the walk: those of the longest row, if it stops there
  // Whether the steps past the end of the longest row come first, and the walk leaves them out.
  bool starts_late() const { return left_out_.valid(); }
  // Of the walk's step t among all steps: what draws follow.
  kernel::Value among_all(kernel::Value t) const { return starts_late() ? t + left_out_ : t; }
  // Emits `body` for the steps past the end of the longest row, where the walk stops there or starts there:
  // these have negative t then.
  void each_step_past_end(const std::function<void(kernel::Value t)>& body);
  // Element of a channel of a tensor with a time axis; its batch row and unit exist.
  kernel::Value place(const KernelTensor& tensor, int row, int channel, kernel::Value t);
  const KernelTensor& written(int index) const { return written_[static_cast<std::size_t>(index)].tensor; }
  // Past the end stands what the caller writes, and no zeros.
  void keep_past_end(int written) { written_[static_cast<std::size_t>(written)].kept = true; }
  kernel::Value lane() const { return lane_; }
  kernel::Value group() const { return group_; }      // lane / 4: the unit within a block of 8
  kernel::Value quarter() const { return quarter_; }  // lane % 4: the pair of batch rows
  kernel::Value block_unit(int unit_block);           // this thread's unit within the block's
  // Whether the channel's unit exists in the head (invalid: always) and its batch row too.
  kernel::Value unit_exists(int unit_block);
  void if_exists(int channel, const std::function<void()>& body);
  // Per-head values, of which every thread has those of its batch rows, with the same bits: emits `body` for
  // each of them that exists, and for those that this thread stores.
  void each_head_value(const std::function<void(int channel)>& body);
  void each_stored_head_value(const std::function<void(int channel)>& body);

  struct Step {
    kernel::Value count;  // steps before this one, in the order of the walk
    kernel::Value time;   // t
    // Value of a flag's leaf; of any batch row where the channel's does not exist.
    std::function<kernel::Value(step::TensorId, int channel)> flag;
    // Value of a staged row in fp32; store of a row's value for every channel.
    std::function<kernel::Value(int staged, int row, int channel)> load;
    std::function<void(int written, int row, const std::vector<kernel::Value>&)> store;
    // Only if Roles::begin is given: emits `body` for the step after this one, if there is one; from then on
    // `load` is that step's.
    std::function<void(const std::function<void(const Step&)>& body)> next;
  };
  // `ahead`: the step after the one under way, or, before the walk, the first one.
  Step step_at(kernel::Value count, bool ahead);
  struct Roles {
    std::function<void()> prepare;  // once in the computing warps, before the walk
    std::function<void(const Step&)>
        begin;  // for the first step, ahead of it; none: no step is looked at ahead
    std::function<void(const Step&)> step;  // in the computing warps, each step
    std::function<void()> finish;           // after the walk
    std::function<void()> multiply;         // all of the warps that only multiply (geometry().parts() > 1)
  };
  void emit_roles(const Roles& roles);
  // A barrier among computing and multiplying warps. Two roles on one named barrier would need its
  // non-aligned form, which forces reconvergence and blocks load motion (kernel/passes/barrier_uses.h), so
  // where both roles exist they use an aligned arrive/sync pair: `barrier` and the number after it, one for
  // each role to wait at. `first`: the role that is released first, because it has more work before the next
  // barrier. It runs `at_once` before the other role is released.
  enum class Warps { Computing, Multiplying };
  void sync_roles(int barrier, Warps first, const std::function<void()>& at_once = {});
  // The same at one non-aligned barrier, for places where no load could move and no role has more work than
  // the other. All are released at once.
  void sync_roles(int barrier);
  Launch finish();

 private:
  struct StagedTensor {
    KernelTensor tensor;
    kernel::Memory shared;  // [stages, steps, rows, batch, pitch]; of per-head values without the last axis
    bool shifted = false;
    kernel::Array fragments;  // words of this step: [rows, batch tiles, unit blocks, pair_words()]
  };
  struct WrittenTensor {
    KernelTensor tensor;
    kernel::Memory shared;  // [2, steps, rows, result_elements()]
    bool kept = false;      // keep_past_end()
    bool sums = false;      // write_sums()
    bool of_channels() const { return !sums && !tensor.per_head; }
  };

  void limit_time();
  void clear_staging();
  void helper_roles();
  void clear_past_end();
  void clear_head_values(const WrittenTensor& written, kernel::Value t);
  void producer_role();
  void stage_tensor(const StagedTensor& staged, kernel::Value first, kernel::Value count, kernel::Value slot);
  void copy_vector(const StagedTensor& staged, kernel::Value to, kernel::Value from);
  void store_role();
  void write_tensor(const WrittenTensor& written, kernel::Value turn, kernel::Value first,
                    kernel::Value count);
  void write_pieces(const WrittenTensor& written, kernel::Array pieces, kernel::Value to, kernel::Value unit);
  void compute_role(const Roles& roles);
  kernel::Value flag(step::TensorId tensor, int channel, kernel::Value t, bool ahead);
  void compute_step(const Roles& roles, kernel::Value stage, kernel::Value s);
  void store_row(const WrittenTensor& written, kernel::Value line, int row,
                 const std::vector<kernel::Value>& values);
  void look_ahead(kernel::Value stage, kernel::Value s, kernel::Value done,
                  const std::function<void(const Step&)>& body);
  void load_fragments(kernel::Value line);
  // Tensors with one value a head (head_values.cpp).
  bool is_wide(const StagedTensor& staged) const { return staged.tensor.storage != task_.problem.storage; }
  void declare_head_values(StagedTensor& staged);
  void declare_head_values(WrittenTensor& written);
  bool has_head_values() const;                                      // of the cell's own tensors
  bool reads_scratch_head_values() const;                            // kHeadValues
  std::int64_t head_value_line(const WrittenTensor& written) const;  // elements of a step of its ring
  void stage_head_values(const StagedTensor& staged, kernel::Value first, kernel::Value count,
                         kernel::Value slot);
  void load_head_values(const StagedTensor& staged, kernel::Value line);
  void store_head_values(const WrittenTensor& written, kernel::Value line, int row,
                         const std::vector<kernel::Value>& values);
  void store_sums(const WrittenTensor& written, kernel::Value line, int row,
                  const std::vector<kernel::Value>& values);
  void write_head_values(const WrittenTensor& written, kernel::Value turn, kernel::Value first,
                         kernel::Value count);
  kernel::Value head_value_place(const WrittenTensor& written, kernel::Value batch, kernel::Value row,
                                 kernel::Value t);
  kernel::Value time_of(kernel::Value count);  // t of the count-th step of the walk
  kernel::Value batch_row(int tile, kernel::Value row_of_tile);
  kernel::Value base(const KernelTensor& tensor, kernel::Value row);  // of a batch row and this head
  kernel::Value row_begin(const KernelTensor& tensor, kernel::Value row);

  const Task& task_;
  PersistentGeometry geometry_;
  TimeOrder order_;
  kernel::Builder builder_;
  Signature signature_;
  FlagReader flags_;
  std::unique_ptr<ChipElements> elements_;
  std::unique_ptr<FlagWindow> flag_window_;  // where the step has flags
  std::vector<StagedTensor> staged_;
  std::vector<WrittenTensor> written_;
  kernel::Mbarrier full_, empty_, filled_, drained_;
  Warps emitting_ = Warps::Computing;  // whose role
  kernel::Value whole_time_;           // T, where the walk may have fewer steps
  kernel::Value left_out_;             // steps before the first of the walk, where it starts late
  kernel::Value batch_, time_, rank_, team_, head_, first_row_, first_unit_, warp_, part_, lane_, group_,
      quarter_, groups_;
  std::vector<kernel::Value> units_;  // this thread's of each unit block, counted in the block
};

}  // namespace rondo::schedule
