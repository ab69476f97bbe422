// What the bodies of the forward and backward stream kernels share: parameters in registers, carried state
// rows, names.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/schedule/channelwise/params.h"
#include "compiler/schedule/channelwise/scan_warp.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/rewrite/deal_rows.h"
#include "compiler/schedule/rewrite/linear_step.h"
#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/schedule/stream/kernel.h"

namespace rondo::schedule {

// The tensors of the carries' first and last values, [B, H, rows, D] fp32, by state.
struct CarryEnds {
  std::map<step::TensorId, KernelTensor> first, last;
  std::string what;  // the last ones, for the emitted text
  // Where each channel's share of the last ones goes that have one value a head, [B, H, rows, D] fp32; not
  // there where every channel or the block has their values.
  KernelTensor shares = {};
};

class StreamBody {
 protected:
  // `dealt`: the pass as a thread has it, with its share of rows.
  StreamBody(const Task& task, const DealtPass& dealt, const StreamParameters& parameters,
             const std::string& name, const std::string& comment, TimeOrder order);

  // Declares the parameters' arguments. Call before StreamKernel::place, and load_params after it.
  void declare_params();
  // One register a carried state row and channel, named prefix + state.
  void declare_carries(const std::string& prefix);
  // Loads parameters and the carries' first values into registers. Where blocks split time the scan warp
  // loads the carries, and walk_steps() stores the last ones.
  void load_start(const CarryEnds& ends);
  // Emits what depends on parameters alone. Call after load_start, outside any condition.
  void hoist();
  void store_carries(const CarryEnds& ends);

  // Whether a step stands at t = 0, where the initial state takes the place of a saved one.
  struct AtStart {
    bool always = false;
    kernel::Value maybe;  // Pred, known at run time only; invalid if not
  };
  using LeafOf = std::function<kernel::Value(const step::Node&, const StreamKernel::Staged&, const AtStart&,
                                             int channel)>;
  // Results of a step by [channel][root]; the first roots are the carries' successors, in the order of
  // Cell::next.
  using Results = std::vector<std::vector<kernel::Value>>;
  // Emits the walk over time: `consume` stores what a step gives besides its carries.
  void walk_steps(const CarryEnds& ends, const LeafOf& leaf,
                  const std::function<void(const Results&)>& consume);
  // The sum of `values` (by [channel]) over the segments, valid in the first segment's threads. All threads
  // call it.
  std::vector<kernel::Value> sum_over_segments(const std::string& name,
                                               const std::vector<kernel::Value>& values);

  kernel::Value param(const step::Node& leaf, int channel) const;
  kernel::Value draw(const GraphLowering& lowering, const step::Node& node, int channel);
  kernel::Value carry(step::TensorId tensor, int row, int channel) const;
  // Where a row of a state begins and ends, within its tensor; `row` is one of the thread's.
  kernel::Value first_place(const KernelTensor& tensor, int row, int channel);
  // Whether a tensor has one value a head; and whether all threads of a head have the values of its steps
  // from one place, which the ring has if they are many.
  bool is_head_value(step::TensorId id) const { return tensor(id).tail == step::Tail::Scalar; }
  bool is_shared(step::TensorId id) const { return is_head_value(id) && !is_dealt(id); }
  bool is_dealt(step::TensorId id) const { return dealt_[static_cast<std::size_t>(id)]; }
  // The row of an internal tensor that has those of several tensors, of which this one's begin at `first`.
  kernel::Value row_among(int first, const step::Row& row);
  // Emits what stores a result of the tensor: by one of the threads that have the same.
  void once(step::TensorId tensor, const std::function<void()>& body);
  const step::Tensor& tensor(step::TensorId id) const { return task_.cell.tensor(id); }
  std::size_t index(std::size_t k, int channel) const {
    return k * static_cast<std::size_t>(parameters_.per_thread) + static_cast<std::size_t>(channel);
  }
  // [channel][root] -> the channel values of one root.
  static std::vector<kernel::Value> column(const Results& results, std::size_t root);

  const Task& whole_;  // whose tensors have all rows
  const Task& task_;   // as a thread has it
  const std::vector<bool>& dealt_;
  StreamParameters parameters_;
  StreamKernel stream_;
  // If the walk is in segments: the forms of the roots, and the shifts of the carried values to which the
  // forms are applied (LinearStep). step_ then computes the coefficients, constants and shifts.
  std::vector<LinearForm> forms_;
  std::vector<int> shifts_;
  bool cuts_ = false;             // LinearStep's
  bool again_ = false;            // SegmentStep's: step_ and forms_ are then of the carries alone
  TransformPattern pattern_ = 1;  // of the forms, composed
  step::StepGraph in_order_;      // and the step as it was
  HeadReductions reductions_;     // of step_: over the head that a block holds, or over the rows of a channel
  step::StepGraph step_;
  GraphLowering lowering_;
  std::vector<kernel::Value> sums_;  // what a thread adds up over its steps: variables

  // What the kernel reads, it reads for this.
  const step::StepGraph& all_computed() const { return again_ ? in_order_ : step_; }

 private:
  friend class SegmentedStep;
  friend class OrderedWalk;
  friend class ExchangeStep;
  step::StepGraph prepare(const StreamParameters& parameters, step::StepGraph step);
  // Registers of a carried row: one for each channel of the thread, or one that is the same for all.
  int carried(std::size_t k) const {
    const bool of_head = parameters_.whole_head && is_head_value(task_.cell.next[k].tensor);
    return of_head ? 1 : parameters_.per_thread;
  }
  // Of the step, and where steps are computed again of what they were.
  void each_lowering(const std::function<void(const GraphLowering&)>& body);
  kernel::Value leads();  // Pred: the thread stores what the head has once
  // The first values of carries into variables, by index().
  void load_carries(const CarryEnds& ends, const std::vector<kernel::Value>& carries);
  void store_carries(const CarryEnds& ends, const std::vector<kernel::Value>& carries);
  void assign_carries(const Results& values);
  kernel::Value settled(kernel::Value value, const std::string& name);

  ChannelParams params_;
  std::vector<kernel::Value> carry_;
};

}  // namespace rondo::schedule
