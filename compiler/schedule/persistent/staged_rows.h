// The tensors that a persistent kernel reads at each step: staging warps bring their rows into a ring in
// shared memory, and each computing thread takes what its channels have out of it.
#pragma once

#include <vector>

#include "compiler/schedule/persistent/elements.h"
#include "compiler/schedule/persistent/threads.h"

namespace rondo::schedule {

class StagedRows {
 public:
  StagedRows(PersistentThreads& threads, const ElementsOfTensors& elements)
      : threads_(threads), b_(threads.builder()), elements_(elements), geometry_(threads.geometry()) {}

  // Declares a tensor. `shifted`: slot t holds step t - 1, nothing at t = 0.
  int add(TensorRef ref, bool shifted = false);
  // Per-head values of the cell's own tensors; and those that a launch before the sweep makes (kHeadValues),
  // which are fp32, and copied like rows.
  bool has_head_values() const;
  bool has_scratch_head_values() const;

  // Places that no copy ever fills, past the end of the batch or of the head, hold zeros. By all threads.
  void clear();
  // Copies `count` steps from step `first` of the walk into a slot. By the producer warps.
  void stage(kernel::Value first, kernel::Value count, kernel::Value slot);
  // In computing threads: registers of a tile's step; those of line `line` of the ring, [step][tile in turn];
  // a value in fp32.
  void declare_registers();
  void load(kernel::Value line);
  kernel::Value value(int staged, int row, int channel) const;

 private:
  struct Staged {
    KernelTensor tensor;
    kernel::Memory shared;  // [stages, steps, tiles in turn, rows, batch, pitch()]; per head without the last
    bool shifted = false;
    kernel::Array registers;  // words: [rows, batch tiles, unit blocks, pair_words()]
  };
  const ChipElements& elements_of(const Staged& staged) const { return elements_.of(staged.tensor.storage); }
  void stage_rows(const Staged& staged, kernel::Value first, kernel::Value count, kernel::Value slot);
  void stage_head_values(const Staged& staged, kernel::Value first, kernel::Value count, kernel::Value slot);
  void load_head_values(const Staged& staged, kernel::Value line);
  kernel::Value producer();  // this thread's number among the producers

  PersistentThreads& threads_;
  kernel::Builder& b_;
  const ElementsOfTensors& elements_;
  const PersistentGeometry& geometry_;
  std::vector<Staged> staged_;
};

}  // namespace rondo::schedule
