// A sweep of a thread through its segment of time: the states step by step, the results of each step, and the
// product of the steps' Jacobians, which says how the segment's end follows its start.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/schedule/channelwise/affine_transforms.h"
#include "compiler/schedule/channelwise/params.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/shoot/kernel.h"

namespace rondo::schedule {

// What a step of the pass computes: next states, outputs and, with `newton`, the entries of its Jacobian, row
// after row (kNoNode: zero).
step::StepGraph shoot_step(const Task& task, bool newton);

// Which entries the maps of segments have: those that products of Jacobians may have, for up to two rows all.
TransformPattern shoot_pattern(const Task& task);

class SegmentSweep {
 public:
  // `cell` is simplified and outlives this, as the others do.
  SegmentSweep(ShootKernel& kernel, const Task& task, const ShootParameters& parameters);

  // Before and after ShootKernel::place. start() loads parameters and initial states.
  void declare();
  void start();

  // Sweeps from `lead` stages before the segment, from the states that state() holds. Whole warps.
  void run(kernel::Value lead);
  // What a tensor written at each step has past the end of a row: zeros, as no values, or where time is
  // reversed, and these steps come first, the initial state in a history.
  std::vector<kernel::Value> past_end(int written, int row) const;
  // Stores the states behind the last step where it is the segment's.
  void store_last();

  const TransformPattern& pattern() const { return pattern_; }
  int states() const { return static_cast<int>(cell_.next.size()); }
  // Registers by state row and channel of the thread. initial: the states before t = 0. state: before a sweep
  // where it starts, after it where it ended. beginning: the states at the segment's first step in the last
  // sweep. scale: the largest size of the state that was seen in it.
  kernel::Value initial(int state, int channel) const { return initial_[index(state, channel)]; }
  kernel::Value state(int state, int channel) const { return state_[index(state, channel)]; }
  kernel::Value beginning(int state, int channel) const { return beginning_[index(state, channel)]; }
  kernel::Value scale(int state, int channel) const { return scale_[index(state, channel)]; }
  // The affine map from the segment's start to its end, by channel: the product of the Jacobians, and what
  // takes beginning() to state(), with the entries of shoot_pattern(). A row of the product that is not
  // finite or larger than `most` counts as zero, as do all without `newton`.
  std::vector<AffineTransform> transforms(double most);
  // By how much the segment multiplies a change of its start, in this state's end: at least 1. With `newton`.
  kernel::Value growth(int state, int channel);
  // What the next sweep and the scan need of this one, all variables.
  std::vector<kernel::Value> kept() const;
  // Sets the product to zero: the end does not follow the start any more.
  void settle();
  const std::map<step::TensorId, KernelTensor>& first_tensors() const { return first_; }

 private:
  std::size_t index(int state, int channel) const {
    return static_cast<std::size_t>(state * parameters_.per_thread + channel);
  }
  std::size_t entry(int row, int column, int channel) const {
    return static_cast<std::size_t>((row * states() + column) * parameters_.per_thread + channel);
  }
  const step::Tensor& tensor(step::TensorId id) const { return cell_.tensor(id); }
  bool is_head_value(step::TensorId id) const { return tensor(id).tail == step::Tail::Scalar; }
  std::vector<kernel::Value> registers(const std::string& suffix);
  kernel::Value leaf(const step::Node& node, const ShootKernel::Staged& staged, int channel) const;
  // The values of the first `count` roots, by [channel][root].
  std::vector<std::vector<kernel::Value>> values(const ShootKernel::Staged& staged, std::size_t count);
  void advance(const std::vector<std::vector<kernel::Value>>& values);
  void enter();
  void step(const ShootKernel::Staged& staged);
  void multiply(int channel, const std::vector<kernel::Value>& values);
  void measure();  // writes scale_

  ShootKernel& kernel_;
  const step::Cell& cell_;
  ShootParameters parameters_;
  TransformPattern pattern_;
  step::StepGraph step_;
  GraphLowering lowering_;
  ChannelParams params_;
  std::map<step::TensorId, int> staged_, outputs_, histories_;
  std::map<step::TensorId, KernelTensor> first_, last_;
  bool save_;
  std::vector<kernel::Value> initial_, state_, beginning_, scale_;
  std::vector<kernel::Value> product_;  // by entry(); invalid where always zero
};

}  // namespace rondo::schedule
