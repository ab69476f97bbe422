// What the forward and the backward persistent kernels share: parameters and carried rows in registers, and a
// step as alternating parts: elementwise work, exchange of vectors, products.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/analysis/step_order.h"
#include "compiler/schedule/lower/graph.h"
#include "compiler/schedule/persistent/early_vectors.h"
#include "compiler/schedule/persistent/reductions.h"
#include "compiler/schedule/persistent/step_products.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

class PersistentBody {
 protected:
  PersistentBody(const Task& task, const PersistentParameters& parameters, const std::string& name,
                 const std::string& comment, TimeOrder order, step::StepGraph step);

  // States with one value a head are held once for each batch row, by all threads.
  bool holds(std::size_t k, int channel) const {
    return !is_head_value(task_.cell.next[k].tensor) || channel < kernel_.geometry().head_values();
  }
  bool has_head_value_states() const;
  void each_head_value_state(const std::function<void(std::size_t k, const step::Row& row)>& body) const;
  // Declares matrices and the parameters' arguments. Call before PersistentKernel::place.
  void declare_params();
  // In the computing warps, before the walk: registers of parameters and carries ("prefix" + state name) with
  // their first values (`first`: [B, H, rows, D] fp32), and the matrices.
  void load_start(const std::string& prefix, const std::map<step::TensorId, KernelTensor>& first);
  // Carries into `last`, [B, H, rows, D] fp32.
  void store_carries(const std::map<step::TensorId, KernelTensor>& last, const std::string& what);

  using LeafOf = std::function<kernel::Value(const step::Node&, const PersistentKernel::Step&, int channel)>;
  // Takes a root of the step, by number, with its values by channel, as soon as they are there.
  using Consume =
      std::function<void(const PersistentKernel::Step&, std::size_t root, const std::vector<kernel::Value>&)>;
  // Emits the kernel's roles around `leaf` and `consume`. `prepare` and `finish`: before and after the walk.
  void emit_roles(const std::function<void()>& prepare, const std::function<void()>& finish,
                  const LeafOf& leaf, const Consume& consume);

  // Whether computing threads need the rows of an input, and not the products alone.
  bool stages(step::TensorId input) const;
  kernel::Value param(const step::Node& leaf, int channel) const;
  kernel::Value draw(const step::Node& node, const PersistentKernel::Step& now, int channel);
  kernel::Value carry(step::TensorId tensor, int row, int channel) const;
  const step::Tensor& tensor(step::TensorId id) const { return task_.cell.tensor(id); }
  int channels() const { return kernel_.geometry().channels(); }
  bool is_head_value(step::TensorId id) const { return tensor(id).tail == step::Tail::Scalar; }
  // Of a register that every tile in turn has its own of.
  std::size_t index(std::size_t k, int channel) const {
    const int turn = kernel_.threads().turn(), turns = kernel_.geometry().p.tiles_in_turn;
    return (k * static_cast<std::size_t>(turns) + static_cast<std::size_t>(turn)) *
               static_cast<std::size_t>(channels()) +
           static_cast<std::size_t>(channel);
  }

  const Task& task_;
  PersistentKernel kernel_;
  step::StepGraph step_;
  std::vector<ProductGroup> groups_;
  std::vector<ProductSum> sums_;
  StepOrder order_;
  GraphLowering lowering_;

 private:
  // Of the tile whose turn it is.
  void load_first_carries(const std::map<step::TensorId, KernelTensor>& first);
  void store_carries(const std::map<step::TensorId, KernelTensor>& last);
  bool sent_early(const ProductGroup& group) const { return schedule::sent_early(task_, step_, group); }
  std::vector<std::vector<kernel::Value>> early_vectors(
      kernel::Value count, const std::function<kernel::Value(std::size_t, int)>& next);
  void send_early(kernel::Value tile_step, const std::vector<std::vector<kernel::Value>>& vectors);
  void send_next(const PersistentKernel::Step& now, const std::vector<std::vector<kernel::Value>>& next);
  bool only_multiplied(step::NodeId id) const;
  // A step on its way: by channel, what has been emitted; by root, whether it has been consumed.
  struct Progress {
    std::vector<GraphLowering::Values> values;
    std::vector<bool> consumed;
    int exchanges = 0;  // that are behind (StepOrder::after)
  };
  void run_step(const PersistentKernel::Step& now, const LeafOf& leaf, const Consume& consume);
  void publish_level(int level, const PersistentKernel::Step& now, const LeafOf& leaf, Progress& step);
  void publish_chosen(int level, const PersistentKernel::Step& now, const LeafOf& leaf);
  // One stage, in all channels' values; then the stages that come before the products of a level: those that
  // its vectors wait for, or the others, and with these what follows from them.
  void reduce(std::size_t stage, const PersistentKernel::Step& step, const LeafOf& leaf,
              std::vector<GraphLowering::Values>& values);
  void reduce_before(int level, bool before_vectors, const PersistentKernel::Step& now, const LeafOf& leaf,
                     Progress& step);
  void emit_ready(const PersistentKernel::Step& now, const LeafOf& leaf, Progress& step);
  void consume_ready(const PersistentKernel::Step& now, const Consume& consume, Progress& step);
  void take_products(int level, Progress& step);
  void finish_step(const PersistentKernel::Step& now, const Consume& consume, Progress& step);
  // Whether the values of a step that depend on no carry (StepOrder::early) are computed while the step
  // before waits for its products.
  bool looks_ahead() const;
  void compute_early(const PersistentKernel::Step& step, const LeafOf& leaf);
  void keep_for_later(Progress& step);
  kernel::Value settled(kernel::Value value, const std::string& name);

  ReductionExchange reductions_;
  std::unique_ptr<StepProducts> products_;
  std::vector<step::TensorId> only_multiplied_;  // inputs that products_ reads, and nothing else does
  std::map<step::TensorId, KernelTensor> params_;
  std::map<std::pair<step::TensorId, int>, std::vector<kernel::Value>> param_values_;  // by unit block
  std::vector<kernel::Value> carry_;
  std::vector<std::vector<kernel::Value>> early_;  // by channel: order_.handed of the step to come
};

}  // namespace rondo::schedule
