// Staging of per-step tensors into shared memory far ahead of their use. Time is cut into stages of `steps`
// steps, of which `stages` are in flight as asynchronous copies, in a ring of slots.
#pragma once

#include <functional>
#include <vector>

#include "compiler/schedule/stream/threads.h"

namespace rondo::schedule {

class StreamRing {
 public:
  explicit StreamRing(StreamThreads& threads)
      : threads_(threads), b_(threads.builder()), parameters_(threads.parameters()) {}

  // Declares a tensor whose rows are staged. `shifted`: slot t holds the tensor at t - 1 (previous states),
  // and at t = 0 nothing.
  int add(TensorRef ref, bool shifted);
  bool any_shifted() const;
  // After the threads are placed: where the block's rows begin; then which thread copies what.
  void place_rows();
  void place_copies();

  // Copies stage `block` if it exists, and closes the group of copies; and the stages before the walk.
  void stage_ahead(kernel::Value block);
  void fill();
  // Whether computing threads issue the copies in bursts between their steps. All of them then copy, and all
  // have channels.
  bool interleaves_copies() const;
  // The stage that is copied so while another one is computed. copy_piece() issues burst `piece` if the stage
  // is whole; finish_copies() copies a stage that is not, and closes the group.
  struct Ahead {
    kernel::Value first_step, slot;
    kernel::Value whole;    // Pred: it exists, and so do all its steps; `apart`: and step 0 is none of them
    kernel::Value partial;  // Pred: it exists, but is not whole
  };
  Ahead stage_to_copy(kernel::Value block, bool apart);
  void copy_piece(const Ahead& ahead, kernel::Value piece, int pieces);
  void finish_copies(const Ahead& ahead);

  // What lies in line `line` of the ring, by [tensor][row][channel of the thread]; of shifted tensors nothing
  // `at_start`. Guarded: zeros where the step does not exist, and of shifted tensors where it is not `after`
  // step 0. Both are Preds.
  using Rows = std::vector<std::vector<std::vector<kernel::Value>>>;
  Rows load(kernel::Value line, bool at_start);
  Rows load_guarded(kernel::Value line, kernel::Value exists, const std::function<kernel::Value()>& after);
  // What the step at time t has, loaded from global memory by the thread that computes with it; of shifted
  // tensors zeros at t = 0. For blocks of one head.
  Rows load_step(kernel::Value t);

 private:
  struct Staged {
    KernelTensor tensor;
    kernel::Memory shared;
    kernel::Value base;  // element of this block's first channel, row 0, t = 0
    bool shifted = false;
    // What a step has of it, in lines that copies do not straddle: rows of all heads of the block, or one
    // line of all rows where the head has one value. Between the rows of two lanes lies `padding`: lanes read
    // the same of their rows at once, from different banks.
    int lines = 1, width = 1, vector = 1, padding = 0;
  };
  // What a thread copies of a stage of one tensor: a vector in each of steps `begin`, `begin` + `stride`, ...
  struct Place {
    int tensor = 0;
    kernel::Value mine;         // Pred: this thread has it; invalid if all do
    kernel::Value head_exists;  // Pred: the head that it is of; invalid if all do
    kernel::Value begin;        // step within the stage
    int stride = 1;             // in steps
    kernel::Value column;       // channel within the block's
    kernel::Value from;         // element of the tensor, at the stage's first step t = 0
    kernel::Value to;           // element of a slot
  };
  using Copy = std::function<void(const Place&, const Staged&, kernel::Value from, kernel::Value to)>;

  // Elements of a step.
  int of_step(const Staged& staged) const {
    return staged.lines * staged.width + staged.tensor.row_lanes * staged.padding;
  }
  void shape(Staged& staged) const;
  kernel::Value slot_of(kernel::Value block);
  kernel::Value row_place(const Staged& staged, kernel::Value line, int row);
  std::vector<std::vector<kernel::Value>> load_head_values(const Staged& staged, kernel::Value line);
  void place_copies_of(int tensor);
  Place place_copy(int tensor, kernel::Value place, kernel::Value begin, int stride);
  void each_place(kernel::Value first_step, kernel::Value slot, const Copy& copy);
  void copy_paced(kernel::Value first_step, kernel::Value slot);
  void copy_burst(kernel::Value first_step, kernel::Value slot, kernel::Value piece, int pieces);

  StreamThreads& threads_;
  kernel::Builder& b_;
  const StreamParameters& parameters_;
  std::vector<Staged> staged_;
  std::vector<Place> places_;
};

}  // namespace rondo::schedule
