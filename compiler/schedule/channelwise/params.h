// The parameters of a step in a thread's registers, and what depends on them alone.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/schedule/channelwise/threads.h"
#include "compiler/schedule/lower/graph.h"

namespace rondo::schedule {

class ChannelParams {
 public:
  // Declares the arguments of those that `lowering` uses, before ChannelThreads::place_channels.
  void declare(ChannelThreads& threads, const step::Cell& cell, const GraphLowering& lowering);
  bool any() const { return !tensors_.empty(); }
  // One register for each row and channel of the thread, of those that `lowering` uses and that have none
  // yet, and the loads, which stand where the thread's channels exist. `cell`: with the rows of a thread.
  void make_registers(ChannelThreads& threads, const step::Cell& cell, const GraphLowering& lowering,
                      int per_thread);
  void load(ChannelThreads& threads);
  kernel::Value value(const step::Node& leaf, int channel) const {
    return values_.at({leaf.tensor, leaf.row})[static_cast<std::size_t>(channel)];
  }

 private:
  std::map<step::TensorId, KernelTensor> tensors_;
  std::map<std::pair<step::TensorId, int>, std::vector<kernel::Value>> values_;
};

}  // namespace rondo::schedule
