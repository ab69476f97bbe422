// The tensors that a kernel of channels writes at each step, and where its thread stands in them.
#pragma once

#include <functional>
#include <vector>

#include "compiler/schedule/channelwise/threads.h"

namespace rondo::schedule {

class WrittenRows {
 public:
  // `gather`: a place is worked out for each group of steps, and the compiler may gather the stores of a
  // group. Otherwise a cursor walks from step to step, which keeps it from that.
  WrittenRows(ChannelThreads& threads, int per_thread, kernel::CacheHint hint, bool gather = false)
      : threads_(threads), per_thread_(per_thread), hint_(hint), gather_(gather) {}

  // Declares a tensor.
  int add(TensorRef ref);
  // After the threads are placed. Preds, invalid where they always hold: `owns`: the thread's channels exist;
  // `leads`: it is the one that stores what a head has once; without it, that of the head's first channel.
  void place(kernel::Value owns = {}, kernel::Value leads = {});
  // Stands at step `first`; goes on by a step, backwards if `way` is negative; back to the step of begin().
  void begin(kernel::Value first);
  void advance(int way);
  void rewind();
  // Stores a row at the current step, of those of the thread; values by channel of the thread. Of a tensor
  // with one value a head the first value is stored, by one thread; so is what all lanes of a channel have.
  void store(int written, int row, const std::vector<kernel::Value>& values);

  // Values by channel of the thread that a row has past the end; empty: zeros.
  using Kept = std::function<std::vector<kernel::Value>(int written, int row)>;
  // Writes the steps that the walk left out, spread over blocks and segments.
  void write_past_end(const Kept& kept);

 private:
  struct Written {
    KernelTensor tensor;
    kernel::Value base;    // element of this thread's first channel and row, t = 0
    kernel::Value cursor;  // the same at the current step; with `gather_`, at that of begin()
    int ahead = 0;         // with `gather_`: by how many steps the current one is ahead of it
  };
  // Pred: the thread is the one of its channels that stores the tensor; invalid where each stores its rows.
  kernel::Value once(const KernelTensor& tensor);
  // In as few accesses of at most 16 bytes as there can be.
  void store_channels(const KernelTensor& to, kernel::Value place, const std::vector<kernel::Value>& values);

  ChannelThreads& threads_;
  int per_thread_;
  kernel::CacheHint hint_;
  bool gather_;
  kernel::Value owns_, leads_;
  std::vector<Written> written_;
};

}  // namespace rondo::schedule
