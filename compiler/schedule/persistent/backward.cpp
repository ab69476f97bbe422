// The sweep of a persistent backward pass: it carries the gradients back (docs/strategies/dense-backward.md).
#include <fmt/format.h>

#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/backward/dense_backward.h"
#include "compiler/schedule/backward/time_head_values.h"
#include "compiler/schedule/lower/head_gradient_sum.h"
#include "compiler/schedule/persistent/body.h"
#include "compiler/schedule/persistent/strategy.h"
#include "compiler/schedule/sweep/backward_split.h"

namespace rondo::schedule {
namespace {

using step::Row;

// Beside the scratch tensors of the split, where several blocks share a head, their shares of gradients of
// inputs with one value a head.
std::vector<int> sweep_scratch(const step::Cell& cell, const BackwardSplit& split, const SpreadSweep& sweep,
                               int blocks) {
  std::vector<int> rows = scratch_rows(split, sweep);
  if (const int head_values = head_value_rows(cell); head_values > 0 && blocks > 1) {
    if (rows.size() <= kShares) rows.resize(kShares + 1, 0);
    rows[kShares] = head_values;
  }
  return rows;
}

class SweepBuilder : PersistentBody {
 public:
  SweepBuilder(const Task& task, const PersistentParameters& parameters, const BackwardSplit& split,
               const SpreadSweep& sweep)
      : PersistentBody(task, parameters, fmt::format("{}_persistent_bw", task.cell.name),
                       fmt::format("{}: persistent backward sweep, {} in memory", task.cell.name,
                                   kernel::storage_name(task.problem.storage)),
                       TimeOrder::Backward, sweep.step),
        split_(split),
        needs_(split.needs),
        sweep_(sweep) {}

  Launch build() {
    kernel_.signature().set_scratch(sweep_scratch(task_.cell, split_, sweep_, kernel_.geometry().p.blocks),
                                    kernel_.geometry().p.blocks);
    declare();
    kernel_.place();
    emit_roles([&] { prepare(); },
               [&] {
                 store_carries(grad_first_, "gradients of the initial states");
                 store_sums();
               },
               [&](const Node& node, const PersistentKernel::Step& step, int channel) {
                 return leaf(node, step, channel);
               },
               [&](const PersistentKernel::Step& now, std::size_t root, const std::vector<Value>& values) {
                 consume(now, root, values);
               });
    return kernel_.finish();
  }

 private:
  void declare() {
    for (const TensorId id : tensors_read(task_.cell, step_.graph, step_.roots, TensorKind::Input))
      inputs_[id] = kernel_.staged().add({Role::Input, id});
    for (const TensorRef& ref : products_read(split_, split_.sweep, split_.sweep_roots))
      products_.push_back({ref, kernel_.staged().add(ref)});
    if (!sweep_.head_values.empty()) head_values_at_ = kernel_.staged().add({Role::Scratch, kHeadValues});
    for (const TensorRef& ref : split_.histories) before_.push_back(kernel_.staged().add(ref, true));
    for (const TensorId id : task_.cell.of_kind(TensorKind::Output))
      grad_out_[id] = kernel_.staged().add({Role::OutputGradient, id});
    declare_params();
    kernel_.threads().flags().declare(step_.graph, step_.roots);
    for (const TensorId id : tensors_read(task_.cell, step_.graph, step_.roots, TensorKind::State))
      first_[id] = kernel_.signature().reads({Role::InitialState, id});
    for (const TensorId id : task_.cell.of_kind(TensorKind::State))
      grad_last_[id] = kernel_.signature().reads({Role::LastStateGradient, id});
    for (const TensorId id : task_.cell.of_kind(TensorKind::Input))
      if (!is_head_value(id))
        grad_in_[id] = kernel_.results().add({Role::InputGradient, id});
      else if (kernel_.geometry().p.blocks == 1)
        grad_in_[id] = kernel_.results().add_sums({Role::InputGradient, id});
    if (head_value_rows(task_.cell) > 0 && kernel_.geometry().p.blocks > 1)
      shares_at_ = kernel_.results().add_sums({Role::Scratch, kShares});
    if (!split_.lefts.empty()) lefts_at_ = kernel_.results().add({Role::Scratch, kLefts});
    for (const TensorId id : task_.cell.of_kind(TensorKind::State))
      grad_first_[id] = kernel_.signature().writes({Role::InitialStateGradient, id});
    if (!needs_.step.params.empty()) workspace_ = kernel_.signature().writes({Role::Workspace, -1});
  }

  void prepare() {
    auto& b = kernel_.builder();
    load_start("grad_", grad_last_);
    for (std::size_t p = 0; p < needs_.step.params.size(); ++p)
      for (int channel = 0; channel < channels(); ++channel)
        sums_.push_back(b.variable(fmt::format("sum_{}", p), b.real(0)));
    load_first_states();
  }

  // Before the first step stand the initial states: fp32, and not part of the saved histories.
  void load_first_states() {
    auto& b = kernel_.builder();
    for (const auto& first : first_) {
      const step::TensorId id = first.first;
      const kernel::Memory& memory = first.second.memory;
      for (int row = 0; row < tensor(id).rows; ++row) {
        if (!lowering_.uses(id, row)) continue;
        if (is_head_value(id)) {
          load_first_head_values(id, row, memory);
          continue;
        }
        for (int channel = 0; channel < channels(); ++channel) {
          const Value value = b.variable(tensor(id).name + "_first", b.real(0));
          const Value place = kernel_.threads().state_index(tensor(id).rows, row, channel);
          kernel_.threads().if_exists(channel, [&] { b.assign(value, b.load("first", memory[place])); });
          first_values_[{id, row}].push_back(value);
        }
      }
    }
  }

  void load_first_head_values(TensorId id, int row, const kernel::Memory& memory) {
    auto& b = kernel_.builder();
    const PersistentGeometry& g = kernel_.geometry();
    std::vector<Value>& values = first_values_[{id, row}];
    for (int channel = 0; channel < channels(); ++channel)
      values.push_back(channel < g.head_values()
                           ? b.variable(tensor(id).name + "_first", b.real(0))
                           : values[static_cast<std::size_t>(g.head_value_channel(channel))]);
    kernel_.threads().each_head_value([&](int channel) {
      const Value place = kernel_.threads().head_value_index(tensor(id).rows, row, channel);
      b.assign(values[static_cast<std::size_t>(channel)], b.load("first", memory[place]));
    });
  }

  Value leaf(const Node& node, const PersistentKernel::Step& now, int channel) {
    if (step::is_of_place(node)) return draw(node, now, channel);
    if (node.kind == NodeKind::MatVec) {
      const auto id = static_cast<NodeId>(&node - step_.graph.nodes.data());
      if (const int row = sweep_.head_value_row(id); row >= 0) return now.load(head_values_at_, row, channel);
      const RowRef& where = split_.products.at(sweep_.origin.at(static_cast<std::size_t>(id)));
      return now.load(staged_products(where.tensor), where.row, channel);
    }
    if (node.kind == NodeKind::Gradient) {
      const step::GradientRef& g = node.gradient;
      if (g.of == step::GradientRef::Of::NextState) return carry(g.tensor, g.row, channel);
      return now.load(grad_out_.at(g.tensor), g.row, channel);
    }
    switch (tensor(node.tensor).kind) {
      case TensorKind::Input: return now.load(inputs_.at(node.tensor), node.row, channel);
      case TensorKind::State: {
        auto& b = kernel_.builder();
        const RowRef& where = needs_.history.at({node.tensor, node.row});
        const Value saved = now.load(before_of(where.tensor), where.row, channel);
        const Value first = first_values_.at({node.tensor, node.row})[static_cast<std::size_t>(channel)];
        return b.let("before", b.select(now.time == 0, first, saved));
      }
      case TensorKind::Reset:
      case TensorKind::Length: return now.flag(node.tensor, channel);
      default: return param(node, channel);
    }
  }

  int staged_products(const TensorRef& ref) const {
    for (const auto& [tensor, staged] : products_)
      if (tensor == ref) return staged;
    throw std::logic_error("persistent: a product that is neither made nor saved");
  }

  int before_of(const TensorRef& ref) const {
    for (std::size_t i = 0; i < split_.histories.size(); ++i)
      if (split_.histories[i] == ref) return before_[i];
    throw std::logic_error("persistent: a previous state that is not stored");
  }

  // Roots as BackwardSplit::sweep_roots has them.
  void consume(const PersistentKernel::Step& now, std::size_t root, const std::vector<Value>& values) {
    const step::BackwardStep& step = needs_.step;
    if (root < step.previous_states.size()) return;  // carried
    root -= step.previous_states.size();
    if (root < step.inputs.size()) {
      const Row& row = step.inputs[root];
      if (const auto whole = grad_in_.find(row.tensor); whole != grad_in_.end())
        return now.store(whole->second, row.row, values);
      return now.store(shares_at_, first_head_value_row(task_.cell, row.tensor) + row.row, values);
    }
    root -= step.inputs.size();
    if (root >= step.params.size())
      return now.store(lefts_at_, static_cast<int>(root - step.params.size()), values);
    for (int channel = 0; channel < channels(); ++channel) {
      const Value sum = sums_[index(root, channel)];
      kernel_.builder().assign(sum, sum + values[static_cast<std::size_t>(channel)]);
    }
  }

  void store_sums() {
    auto& b = kernel_.builder();
    if (needs_.step.params.empty()) return;
    b.comment("parameter gradients of each batch row; a second kernel sums them over the batch");
    for (int channel = 0; channel < channels(); ++channel)
      kernel_.threads().if_exists(channel, [&] {
        for (std::size_t p = 0; p < needs_.step.params.size(); ++p) {
          const Row& row = needs_.step.params[p];
          const int at = first_param_row(task_.cell, row.tensor) + row.row;
          b.store(workspace_.memory[kernel_.threads().state_index(param_rows(task_.cell), at, channel)],
                  sums_[index(p, channel)]);
        }
      });
  }

  const BackwardSplit& split_;
  const BackwardNeeds& needs_;
  const SpreadSweep& sweep_;
  std::map<TensorId, int> inputs_, grad_out_, grad_in_;
  std::vector<int> before_;  // parallel to split_.histories
  std::vector<std::pair<TensorRef, int>> products_;
  int lefts_at_ = -1;
  int head_values_at_ = -1;
  int shares_at_ = -1;  // the block's shares of gradients of inputs with one value a head
  std::map<TensorId, KernelTensor> first_, grad_last_, grad_first_;
  std::map<std::pair<TensorId, int>, std::vector<Value>> first_values_;
  KernelTensor workspace_;
  std::vector<Value> sums_;
};

}  // namespace

void persistent_backward(const Task& task, const PersistentParameters& own, KernelPlan& plan) {
  const BackwardSplit split = backward_split(task);
  const SpreadSweep sweep = spread_sweep(task, split);
  dense_backward(
      task, split, own.vector,
      [&] {
        if (!sweep.head_values.empty()) plan.launches.push_back(time_head_values(task, split, sweep));
        plan.launches.push_back(SweepBuilder(task, own, split, sweep).build());
        if (own.blocks == 1) return;
        for (Launch& launch : sum_head_gradients(task, own.blocks))
          plan.launches.push_back(std::move(launch));
      },
      plan);
  plan.scratch_rows = sweep_scratch(task.cell, split, sweep, own.blocks);
  if (plan.scratch_rows.size() > kShares) plan.shares = own.blocks;
}

}  // namespace rondo::schedule
