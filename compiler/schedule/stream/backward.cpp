// The backward sweep: the reverse linear recurrence lambda_t = J_{t+1}^T lambda_{t+1} + dLoss/ds_t, with the
// step's values recomputed from its inputs and the previous states.
#include <fmt/format.h>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/lower/head_gradient_sum.h"
#include "compiler/schedule/stream/body.h"
#include "compiler/schedule/stream/strategy.h"
#include "compiler/schedule/stream/warp_shares.h"

namespace rondo::schedule {
namespace {

using step::Row;

class BackwardBuilder : StreamBody {
 public:
  BackwardBuilder(const Task& task, const DealtPass& dealt, const StreamParameters& parameters)
      : StreamBody(task, dealt, parameters, fmt::format("{}_stream_bw", task.cell.name),
                   fmt::format("{}: stream backward, {} in memory", task.cell.name,
                               kernel::storage_name(task.problem.storage)),
                   TimeOrder::Backward),
        needs_(dealt.needs) {}

  Launch build() {
    declare();
    stream_.threads().stop_early();
    stream_.place();
    if (warp_shares_) warp_shares_->place();
    declare_carries("grad_");
    for (std::size_t p = 0; p < needs_.step.params.size(); ++p)
      for (int channel = 0; channel < parameters_.per_thread; ++channel)
        sums_.push_back(stream_.builder().variable(fmt::format("sum_{}", p), stream_.builder().real(0)));
    load_start(ends_);
    hoist();
    walk_steps(
        ends_,
        [&](const step::Node& node, const StreamKernel::Staged& staged, const AtStart& at_start,
            int channel) { return leaf(node, staged, at_start, channel); },
        [&](const Results& results) { consume(results); });
    store_carries(ends_);
    store_sums();
    stream_.write_past_end();
    if (warp_shares_) warp_shares_->write_past_end(head_value_rows(whole_.cell));
    return stream_.threads().finish();
  }

 private:
  void declare() {
    for (const TensorId id : needs_.inputs) inputs_[id] = stage_tensor({Role::Input, id});
    for (const TensorRef& ref : needs_.history_tensors) before_.push_back(stage_tensor(ref, true));
    for (const TensorId id : task_.cell.of_kind(TensorKind::Output))
      grad_out_[id] = stage_tensor({Role::OutputGradient, id});
    declare_params();
    stream_.threads().flags().declare(all_computed().graph, all_computed().roots);
    for (const auto& [state, where] : needs_.history)
      if (first_.count(state.first) == 0)
        first_[state.first] = stream_.signature().reads({Role::InitialState, state.first});
    for (const TensorId id : task_.cell.of_kind(TensorKind::State))
      ends_.first[id] = stream_.signature().reads({Role::LastStateGradient, id});
    for (const TensorId id : task_.cell.of_kind(TensorKind::Input))
      if (!leaves_shares(id)) grad_in_[id] = stream_.written().add({Role::InputGradient, id});
    if (const int rows = head_value_rows(whole_.cell); rows > 0 && !parameters_.whole_head) {
      stream_.signature().set_scratch(head_value_scratch(rows_of_share(rows, parameters_)),
                                      warps_of_head(whole_.problem, parameters_));
      if (parameters_.row_lanes > 1)
        warp_shares_.emplace(stream_, parameters_);
      else
        shares_ = stream_.written().add({Role::Scratch, kShares});
    }
    for (const TensorId id : task_.cell.of_kind(TensorKind::State))
      if (parameters_.whole_head || !is_head_value(id))
        ends_.last[id] = stream_.signature().writes({Role::InitialStateGradient, id});
    if (!parameters_.whole_head && head_value_rows(task_.cell, TensorKind::State) > 0)
      ends_.shares = stream_.signature().writes({Role::Carries, -1});
    if (!needs_.step.params.empty()) workspace_ = stream_.signature().writes({Role::Workspace, -1});
  }

  int stage_tensor(TensorRef ref, bool shifted = false) {
    return is_shared(ref.tensor) ? stream_.values().add(ref, shifted) : stream_.ring().add(ref, shifted);
  }

  // Rows of a tensor that a lane has, where they are dealt; else 0.
  int dealt_rows(TensorId id) const {
    return is_dealt(id) ? whole_.cell.tensor(id).rows / parameters_.row_lanes : 0;
  }

  // Whether each channel leaves its share of an input's gradient, for a second kernel to add up. Where a
  // block holds the whole head it has the sum.
  bool leaves_shares(TensorId input) const { return is_head_value(input) && !parameters_.whole_head; }

  int before_of(const TensorRef& ref) const {
    for (std::size_t i = 0; i < needs_.history_tensors.size(); ++i)
      if (needs_.history_tensors[i] == ref) return before_[i];
    throw std::logic_error("stream: a previous state that is not stored");
  }

  void consume(const Results& results) {
    auto& b = stream_.builder();
    std::size_t root = needs_.step.previous_states.size();
    for (const Row& row : needs_.step.inputs) {
      const bool shares = leaves_shares(row.tensor);
      const std::vector<Value> values = column(results, root++);
      const int first = shares ? first_head_value_row(whole_.cell, row.tensor) : 0;
      if (shares && warp_shares_)
        warp_shares_->add({row_among(first, row), first, row.row, dealt_rows(row.tensor)}, values);
      else
        stream_.written().store(shares ? shares_ : grad_in_.at(row.tensor), first + row.row, values);
    }
    if (warp_shares_) warp_shares_->store();
    for (std::size_t p = 0; p < needs_.step.params.size(); ++p, ++root)
      for (int channel = 0; channel < parameters_.per_thread; ++channel) {
        const Value sum = sums_[index(p, channel)];
        b.assign(sum, sum + results[static_cast<std::size_t>(channel)][root]);
      }
  }

  Value leaf(const step::Node& node, const StreamKernel::Staged& staged, const AtStart& at_start,
             int channel) {
    if (step::is_of_place(node)) return draw(lowering_, node, channel);
    if (node.kind == step::NodeKind::Gradient) {
      const step::GradientRef& g = node.gradient;
      if (g.of == step::GradientRef::Of::NextState) return carry(g.tensor, g.row, channel);
      if (is_head_value(g.tensor)) return head_gradient(g, staged, channel);
      return staged(grad_out_.at(g.tensor), g.row, channel);
    }
    switch (tensor(node.tensor).kind) {
      case TensorKind::Input:
        if (is_shared(node.tensor)) return stream_.values().value(inputs_.at(node.tensor), node.row);
        return staged(inputs_.at(node.tensor), node.row, channel);
      case TensorKind::Reset:
      case TensorKind::Length: return stream_.values().flag(node.tensor);
      case TensorKind::State: {
        if (at_start.always) return first_state(node, channel);
        const RowRef& where = needs_.history.at({node.tensor, node.row});
        const int before = before_of(where.tensor);
        const Value saved = is_shared(where.tensor.tensor) ? stream_.values().value(before, where.row)
                                                           : staged(before, where.row, channel);
        if (!at_start.maybe.valid()) return saved;
        auto& b = stream_.builder();
        const Value value = b.variable("before", saved);
        b.if_(at_start.maybe, [&] { b.assign(value, first_state(node, channel)); });
        return value;
      }
      default: return param(node, channel);
    }
  }

  // Of an output with one value a head. Where each channel carries its share, the first one has all of it.
  Value head_gradient(const step::GradientRef& g, const StreamKernel::Staged& staged, int channel) {
    auto& b = stream_.builder();
    const int id = grad_out_.at(g.tensor);
    const Value whole = is_shared(g.tensor) ? stream_.values().value(id, g.row) : staged(id, g.row, channel);
    if (parameters_.whole_head) return whole;
    return b.select(stream_.threads().channel_index(channel) == 0, whole, b.real(0));
  }

  // Before the first step stands the initial state: fp32, and not part of the saved histories.
  Value first_state(const step::Node& node, int channel) {
    const KernelTensor& first = first_.at(node.tensor);
    return stream_.builder().load("first", first.memory[first_place(first, node.row, channel)]);
  }

  void store_sums() {
    auto& b = stream_.builder();
    for (std::size_t p = 0; p < needs_.step.params.size(); ++p) {
      if (p == 0)
        b.comment("parameter gradients of this block's share; a second kernel sums them over the batch");
      std::vector<Value> own;
      own.reserve(static_cast<std::size_t>(parameters_.per_thread));
      for (int channel = 0; channel < parameters_.per_thread; ++channel)
        own.push_back(sums_[index(p, channel)]);
      const std::vector<Value> totals = sum_over_segments(fmt::format("sum_{}", p), own);
      const Row& row = needs_.step.params[p];
      const Value at = row_among(first_param_row(whole_.cell, row.tensor), row);
      stream_.threads().if_owner([&] {
        once(row.tensor, [&] {
          for (int channel = 0; channel < parameters_.per_thread; ++channel)
            b.store(
                workspace_.memory[stream_.threads().workspace_index(param_rows(whole_.cell), at, channel)],
                totals[static_cast<std::size_t>(channel)]);
        });
      });
    }
  }

  const BackwardNeeds& needs_;
  std::map<TensorId, int> inputs_, grad_out_, grad_in_;
  int shares_ = -1;                        // each channel's of gradients of inputs with one value a head
  std::optional<WarpShares> warp_shares_;  // or each warp's, where rows are dealt
  std::vector<int> before_;                // parallel to needs_.history_tensors
  std::map<TensorId, KernelTensor> first_;
  CarryEnds ends_{{}, {}, "gradients of the initial states"};
  KernelTensor workspace_;
};

}  // namespace

Launch stream_backward(const Task& task, const StreamParameters& parameters) {
  const auto dealt = dealt_pass(task, parameters.row_lanes);
  return BackwardBuilder(task, dealt->value(), parameters).build();
}

}  // namespace rondo::schedule
