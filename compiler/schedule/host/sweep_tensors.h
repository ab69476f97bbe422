// The tensors of a sweep that one kernel walks through from the first step to the last, with a channel in
// each lane: which of them it has, and where a lane finds an element.
#pragma once

#include <vector>

#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/sweep/sweep.h"

namespace rondo::schedule {

class SweepTensors {
 public:
  // What a lane computes: I32 each.
  struct Place {
    kernel::Value batch_row, head, channel;
  };

  // All outlive this.
  SweepTensors(Signature& signature, const Task& task, const Sweep& sweep)
      : signature_(signature), task_(task), sweep_(sweep) {}

  // Before the kernel's first statement: what the roots read, graph by graph, and then all that is written,
  // with the states before and after the walk.
  void declare_reads(const step::Graph& graph, const std::vector<step::NodeId>& roots);
  void declare_ends();

  // Throws std::logic_error where it was not declared.
  const KernelTensor& declared(TensorRef ref) const;
  // Whether a head has one value of it at a step, not one for each channel.
  bool is_head_value(TensorRef ref) const;

  // Elements: of a row at step t, of a row of states before or after the walk, and of a row of the sums over
  // steps, [B, shares, H, rows, D] in the workspace: each share is of some of the steps.
  kernel::Value at_step(const KernelTensor& tensor, int row, kernel::Value t, const Place& place) const;
  kernel::Value boundary(const KernelTensor& tensor, int row, const Place& place) const;
  kernel::Place sum(int row, const Place& place) const;
  kernel::Place sum(int row, const Place& place, kernel::Value share, int shares) const;

  // Loads: of a parameter, of the state before the walk, and of what a source that is read from memory has at
  // step t.
  kernel::Value param(const step::Node& leaf, const Place& place) const;
  kernel::Value first(const RowRef& row, const Place& place) const;
  kernel::Value read(const SweepSource& source, kernel::Value t, const Place& place) const;

 private:
  void declare_once(TensorRef ref, bool written);
  void declare_leaf(const step::Node& node, step::NodeId id);

  Signature& signature_;
  const Task& task_;
  const Sweep& sweep_;
  std::vector<KernelTensor> tensors_;
  KernelTensor sums_;
};

}  // namespace rondo::schedule
