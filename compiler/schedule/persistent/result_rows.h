// The tensors that a persistent kernel writes at each step: computing threads leave what their channels have
// in a ring in shared memory, and store warps take it out.
//
// Every thread has the per-head values of its batch rows, with the same bits; the first lanes of the team
// store them. What sums over the head make, gradients of inputs, no step waits for: so they take no part in
// the exchange of a step's reductions. A warp adds up its channels and leaves the sum in the ring, the store
// warps add the block's warps up, and of several blocks a launch after the sweep adds the shares up.
#pragma once

#include <vector>

#include "compiler/schedule/persistent/elements.h"
#include "compiler/schedule/persistent/threads.h"

namespace rondo::schedule {

class ResultRows {
 public:
  ResultRows(PersistentThreads& threads, const ElementsOfTensors& elements)
      : threads_(threads), b_(threads.builder()), elements_(elements), geometry_(threads.geometry()) {}

  // Declares a tensor.
  int add(TensorRef ref);
  // Declares what sums over the head make: a tensor with one value a head, or, where several blocks share the
  // head, each one's share of it ([B, T, H, blocks, rows]). store() adds the channels up.
  int add_sums(TensorRef ref);
  // Past the end stands what the caller writes, and no zeros.
  void keep_past_end(int written) { written_[static_cast<std::size_t>(written)].kept = true; }
  const KernelTensor& tensor(int written) const { return written_[static_cast<std::size_t>(written)].tensor; }
  std::size_t count() const { return written_.size(); }
  bool has_head_values() const;  // or sums

  // Leaves a row in line `line` of the ring, [step][tile in turn]: a value for every channel. By the
  // computing threads.
  void store(int written, kernel::Value line, int row, const std::vector<kernel::Value>& values);
  // Writes `count` steps from step `first` of the walk, which are in half `turn` of the ring. By store warps.
  void write(kernel::Value turn, kernel::Value first, kernel::Value count);
  // Zeros at the steps past the end. By all threads of the block, a channel of a batch row each, neighbours
  // side by side.
  void clear_past_end();

 private:
  struct Written {
    KernelTensor tensor;
    kernel::Memory shared;  // [2, steps, tiles in turn, rows, result_elements()]
    bool kept = false;      // keep_past_end()
    bool sums = false;      // add_sums()
    bool summed =
        false;  // over batch rows, of which each tensor.batch_rows are added up before they are written
    bool of_channels() const { return !sums && !tensor.per_head; }
    int rows_added() const { return summed ? tensor.batch_rows : 1; }
  };
  int add(TensorRef ref, bool sums);
  // Of sums the ring holds fp32, whatever they become in memory.
  const ChipElements& elements_of(const Written& written) const {
    return written.sums ? elements_.own() : elements_.of(written.tensor.storage);
  }
  // How many shares of a row's value lie in the ring, and elements of a line and of a step of it.
  int shares(const Written& written) const { return written.sums ? geometry_.warps : 1; }
  std::int64_t line_of(const Written& written) const;  // of a tile in turn
  std::int64_t step_of(const Written& written) const { return line_of(written) * geometry_.p.tiles_in_turn; }
  void store_head_values(const Written& written, kernel::Value line, int row,
                         const std::vector<kernel::Value>& values);
  void store_sums(const Written& written, kernel::Value line, int row,
                  const std::vector<kernel::Value>& values);
  void write_rows(const Written& written, kernel::Value turn, kernel::Value first, kernel::Value count);
  void write_pieces(const Written& written, kernel::Array pieces, kernel::Value to, kernel::Value unit);
  // The same of what neighbouring batch rows have together.
  void write_sums_of_rows(const Written& written, kernel::Array pieces, kernel::Value exists,
                          kernel::Value to, kernel::Value unit);
  void write_head_values(const Written& written, kernel::Value turn, kernel::Value first,
                         kernel::Value count);
  // Element of a row's value, or of this block's share of it, in memory.
  kernel::Value head_value_place(const Written& written, kernel::Value batch, kernel::Value row,
                                 kernel::Value t);
  void clear_rows(const Written& written, kernel::Value t);
  void clear_head_values(const Written& written, kernel::Value t);
  kernel::Value store_thread();  // this thread's number among the store warps'

  PersistentThreads& threads_;
  kernel::Builder& b_;
  const ElementsOfTensors& elements_;
  const PersistentGeometry& geometry_;
  std::vector<Written> written_;
};

}  // namespace rondo::schedule
