// What the bodies of the forward and backward stream kernels share: parameters in registers, carried state
// rows, names.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/shorten_chain.h"
#include "compiler/schedule/stream_kernel.h"

namespace rondo::schedule {

class StreamBody {
 protected:
  StreamBody(const step::Cell& cell, const Problem& problem, const StreamParameters& parameters,
             const std::string& name, const std::string& comment, Direction direction, StepGraph step);

  // Declares the parameters' arguments. Call before StreamKernel::place_threads, and load_params after it.
  void declare_params();
  // One register a carried state row and channel, named prefix + state.
  void declare_carries(const std::string& prefix);
  // Parameters and the carries' first values (from `first`, [B, H, rows, D] fp32) into registers.
  void load_start(const std::map<step::TensorId, KernelTensor>& first);
  // Emits what depends on parameters alone. Call after load_start, outside any condition.
  void hoist();
  // Carries into `last`, [B, H, rows, D] fp32.
  void store_carries(const std::map<step::TensorId, KernelTensor>& last, const std::string& what);
  // All carries change at once: every new value is computed from the old ones first. `values` by
  // [channel][state row].
  void assign_carries(const std::vector<std::vector<kernel::Value>>& values);

  kernel::Value param(const step::Node& leaf, int channel) const;
  kernel::Value carry(step::TensorId tensor, int row, int channel) const;
  std::vector<std::vector<kernel::Value>> lower_channels(
      const std::function<kernel::Value(const step::Node&, int channel)>& leaf);

  const step::Tensor& tensor(step::TensorId id) const { return cell_.tensors[static_cast<std::size_t>(id)]; }
  std::string state_name(std::size_t k) const;
  std::size_t index(std::size_t k, int channel) const {
    return k * static_cast<std::size_t>(parameters_.per_thread) + static_cast<std::size_t>(channel);
  }
  // [channel][root] -> the channel values of one root.
  static std::vector<kernel::Value> column(const std::vector<std::vector<kernel::Value>>& results,
                                           std::size_t root);

  const step::Cell& cell_;
  const Problem& problem_;
  StreamParameters parameters_;
  StreamKernel stream_;
  StepGraph step_;
  GraphLowering lowering_;

 private:
  kernel::Value settled(kernel::Value value, const std::string& name);

  std::map<step::TensorId, KernelTensor> params_;
  std::map<std::pair<step::TensorId, int>, std::vector<kernel::Value>> param_values_;
  std::vector<kernel::Value> carry_;
};

}  // namespace rondo::schedule
