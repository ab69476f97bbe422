// Flags of the sequence in a kernel (step/forms.h): resets and lengths, read from memory and turned into the
// values that their leaves stand for.
#pragma once

#include <map>
#include <vector>

#include "compiler/schedule/plan/signature.h"

namespace rondo::schedule {

class FlagReader {
 public:
  FlagReader(Signature& signature, const step::Cell& cell) : signature_(signature), cell_(cell) {}

  // Declares the tensors of flags that the roots need.
  void declare(const step::Graph& graph, const std::vector<step::NodeId>& roots);
  // The kernel's T, once it is known, and before anything is read.
  void set_time(kernel::Value time) { time_ = time; }
  // What the leaves of all tensors that are declared have at step t of the walk, both within the tensors: by
  // tensor, F32, 1 or 0. The loads are emitted where the builder stands.
  using Values = std::map<step::TensorId, kernel::Value>;
  Values read(kernel::Value batch_row, kernel::Value t) const;
  kernel::Value read(step::TensorId tensor, kernel::Value batch_row, kernel::Value t) const;
  // The same in two parts, where a kernel loads ahead: what lies in memory, I32, and what its leaf has. A
  // length is the same at all steps.
  kernel::Value load(step::TensorId tensor, kernel::Value batch_row, kernel::Value t) const;
  // Of resets: the element (I64) that `load` reads, which may also lie past the tensor; elements from a step
  // to the one after it in memory; and what lies at an element, I32.
  kernel::Value place(step::TensorId tensor, kernel::Value batch_row, kernel::Value t) const;
  kernel::Value stride(step::TensorId tensor) const { return tensors_.at(tensor).stride_t; }
  kernel::Value load_at(step::TensorId tensor, kernel::Value place) const;
  kernel::Value value(step::TensorId tensor, kernel::Value loaded, kernel::Value t) const;
  bool is_length(step::TensorId tensor) const { return tensors_.at(tensor).ref.role == Role::Lengths; }
  std::vector<step::TensorId> tensors() const;
  bool any() const { return !tensors_.empty(); }
  // Whether a walk may end before T: after the longest of its rows. Where time is reversed, the steps past
  // the end come first: there a walk may start late. Where heads walk in two directions, both may be.
  bool stops_early() const;
  bool starts_late() const;
  // Of steps that a walk leaves out, those that it leaves out before its first; where a walk may start late.
  kernel::Value left_out_before(kernel::Value left_out) const;
  // From here on steps are counted from step `first` of the walk: it starts late.
  void count_from(kernel::Value first) { left_out_ = first; }
  // Steps that rows `first` to `end` of the batch, at least one row, have at most: from 1 to T, so that every
  // walk makes a step. `unroll`: loads on their way at once.
  kernel::Value longest(kernel::Value first, kernel::Value end, int unroll = 1) const;
  // Declares the tensor of lengths, if the cell has one, whatever the roots need; false if it has none.
  bool declare_lengths();
  // Pred: step t of the walk is one of a row of `length` steps.
  kernel::Value within(kernel::Value length, kernel::Value t) const;

 private:
  Signature& signature_;
  const step::Cell& cell_;
  std::map<step::TensorId, KernelTensor> tensors_;
  kernel::Value time_;
  kernel::Value left_out_;  // of the walk's steps, from which they are counted; invalid: from 0
};

// The role of a tensor of flags.
TensorRef flag_ref(const step::Cell& cell, step::TensorId tensor);

}  // namespace rondo::schedule
