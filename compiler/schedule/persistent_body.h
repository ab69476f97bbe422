// What the forward and the backward persistent kernels share: parameters and carried rows in registers, and a
// step as alternating parts: elementwise work, exchange of vectors, products.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/lower_graph.h"
#include "compiler/schedule/shorten_chain.h"
#include "compiler/schedule/step_products.h"

namespace rondo::schedule {

class PersistentBody {
 protected:
  PersistentBody(const step::Cell& cell, const Problem& problem, const PersistentParameters& parameters,
                 const std::string& name, const std::string& comment, TimeOrder order, StepGraph step);

  // Declares matrices and the parameters' arguments. Call before PersistentKernel::place_threads.
  void declare_params();
  // In the computing warps, before the walk: registers of parameters and carries ("prefix" + state name) with
  // their first values (`first`: [B, H, rows, D] fp32), and the matrices.
  void load_start(const std::string& prefix, const std::map<step::TensorId, KernelTensor>& first);
  // Carries into `last`, [B, H, rows, D] fp32.
  void store_carries(const std::map<step::TensorId, KernelTensor>& last, const std::string& what);

  using LeafOf = std::function<kernel::Value(const step::Node&, const PersistentKernel::Step&, int channel)>;
  // Results of a step by [root][channel]; the first roots are the carries' successors, in the order of
  // Cell::next.
  using Results = std::vector<std::vector<kernel::Value>>;
  // Emits one step: `consume` stores what it gives besides its carries.
  void multiply_only() { products_->multiply_role(); }
  void run_step(const PersistentKernel::Step& now, const LeafOf& leaf,
                const std::function<void(const Results&)>& consume);

  kernel::Value param(const step::Node& leaf, int channel) const;
  kernel::Value carry(step::TensorId tensor, int row, int channel) const;
  const step::Tensor& tensor(step::TensorId id) const { return cell_.tensors[static_cast<std::size_t>(id)]; }
  int channels() const { return kernel_.geometry().channels(); }
  std::size_t index(std::size_t k, int channel) const {
    return k * static_cast<std::size_t>(channels()) + static_cast<std::size_t>(channel);
  }

  const step::Cell& cell_;
  const Problem& problem_;
  PersistentKernel kernel_;
  StepGraph step_;
  std::vector<ProductGroup> groups_;
  std::vector<ProductSum> sums_;
  GraphLowering lowering_;

 private:
  // Vectors of level 0 that are states are sent as soon as the step before has them.
  bool sent_early(const ProductGroup& group) const;
  void send_states(kernel::Value count, const std::function<kernel::Value(std::size_t, int)>& next);
  void multiply_level(int level, const PersistentKernel::Step& now, const LeafOf& leaf,
                      std::vector<GraphLowering::Values>& values);
  kernel::Value settled(kernel::Value value, const std::string& name);
  std::string state_name(std::size_t k) const;

  std::unique_ptr<StepProducts> products_;
  std::map<step::TensorId, KernelTensor> params_;
  std::map<std::pair<step::TensorId, int>, std::vector<kernel::Value>> param_values_;  // by unit block
  std::vector<kernel::Value> carry_;
};

}  // namespace rondo::schedule
