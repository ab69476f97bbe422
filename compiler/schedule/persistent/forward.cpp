#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/persistent/body.h"
#include "compiler/schedule/persistent/strategy.h"
#include "compiler/schedule/rewrite/shorten_chain.h"
#include "compiler/schedule/sweep/backward_split.h"

namespace rondo::schedule {
namespace {

class ForwardBuilder : PersistentBody {
 public:
  ForwardBuilder(const Task& task, const PersistentParameters& parameters)
      : PersistentBody(task, parameters,
                       fmt::format("{}_persistent_{}", task.cell.name, pass_name(task.problem.pass)),
                       fmt::format("{}: persistent forward, {} in memory", task.cell.name,
                                   kernel::storage_name(task.problem.storage)),
                       TimeOrder::Forward, forward_step(task)) {
    if (task.problem.pass == Pass::ForwardSave && passes_products(task.problem))
      for (const auto& [node, where] : saved_products(task.cell)) saved_.push_back(where);
  }

  Launch build() {
    declare();
    kernel_.place();
    emit_roles(
        [&] {
          load_start("", first_);
          store_histories_past_end(true);
        },
        [&] {
          store_carries(last_, "last states");
          store_histories_past_end(false);
        },
        [&](const step::Node& node, const PersistentKernel::Step& step, int channel) {
          return leaf(node, step, channel);
        },
        [&](const PersistentKernel::Step& now, std::size_t root, const std::vector<Value>& values) {
          consume(now, root, values);
        });
    return kernel_.finish();
  }

 private:
  // What is added to a product is added up, and scaled with it, before the product is there.
  static step::StepGraph forward_step(const Task& task) {
    const step::StepGraph step = spread_sweep(task).step;
    return task.problem.math == kernel::Math::Fast ? shorten_chain(task, step) : step;
  }

  void declare() {
    for (const TensorId id : task_.cell.of_kind(TensorKind::Input))
      if (stages(id)) staged_[id] = kernel_.staged().add({Role::Input, id});
    declare_params();
    kernel_.threads().flags().declare(step_.graph, step_.roots);
    for (const TensorId id : task_.cell.of_kind(TensorKind::State))
      first_[id] = kernel_.signature().reads({Role::InitialState, id});
    for (const TensorId id : task_.cell.of_kind(TensorKind::Output))
      outputs_[id] = kernel_.results().add({Role::Output, id});
    if (task_.problem.pass == Pass::ForwardSave)
      for (const TensorId id : stored_histories(task_.cell))
        kernel_.results().keep_past_end(histories_[id] = kernel_.results().add({Role::History, id}));
    for (const RowRef& where : saved_)
      if (products_.count(where.tensor.tensor) == 0)
        products_[where.tensor.tensor] = kernel_.results().add(where.tensor);
    for (const TensorId id : task_.cell.of_kind(TensorKind::State))
      last_[id] = kernel_.signature().writes({Role::LastState, id});
  }

  Value leaf(const step::Node& node, const PersistentKernel::Step& now, int channel) {
    if (step::is_of_place(node)) return draw(node, now, channel);
    switch (tensor(node.tensor).kind) {
      case TensorKind::Input: return now.load(staged_.at(node.tensor), node.row, channel);
      case TensorKind::State: return carry(node.tensor, node.row, channel);
      case TensorKind::Reset:
      case TensorKind::Length: return now.flag(node.tensor, channel);
      default: return param(node, channel);
    }
  }

  // The states at the steps past the end of the longest row: the last ones, or, where these steps come first,
  // the initial ones. `first`: before the walk, else after it.
  void store_histories_past_end(bool first) {
    if (histories_.empty() || !kernel_.threads().walked().is_limited()) return;
    if (task_.cell.direction != step::Direction::Halves) {
      if (first == kernel_.threads().walked().starts_late()) store_histories_past_end();
      return;
    }
    const Value back = kernel_.signature().walks_back();
    first ? kernel_.builder().if_(back, [&] { store_histories_past_end(); })
          : kernel_.builder().if_(
                back, [] {}, [&] { store_histories_past_end(); });
  }

  void store_histories_past_end() {
    kernel_.threads().each_step_past_end(
        [&](Value t) { kernel_.threads().each_turn([&] { store_histories_at(t); }); });
  }

  // The carries, as states after step t.
  void store_histories_at(Value t) {
    const auto is_kept = [&](const step::Row& row) { return histories_.count(row.tensor) != 0; };
    const auto store = [&](const step::Row& row, int channel) {
      const KernelTensor& to = kernel_.results().tensor(histories_.at(row.tensor));
      kernel_.builder().store(to.memory[kernel_.threads().place(to, row.row, channel, t)],
                              carry(row.tensor, row.row, channel));
    };
    const bool head_values = std::ranges::any_of(
        task_.cell.next, [&](const step::Row& row) { return is_kept(row) && is_head_value(row.tensor); });
    for (int channel = 0; channel < channels(); ++channel)
      kernel_.threads().if_exists(channel, [&] {
        for (const step::Row& row : task_.cell.next)
          if (is_kept(row) && !is_head_value(row.tensor)) store(row, channel);
      });
    if (!head_values) return;
    kernel_.threads().each_stored_head_value([&](int channel) {
      each_head_value_state([&](std::size_t, const step::Row& row) {
        if (is_kept(row)) store(row, channel);
      });
    });
  }

  // Roots as forward_roots() has them.
  void consume(const PersistentKernel::Step& now, std::size_t root, const std::vector<Value>& values) {
    if (root < task_.cell.next.size()) {
      const step::Row& next = task_.cell.next[root];
      if (const auto kept = histories_.find(next.tensor); kept != histories_.end())
        now.store(kept->second, next.row, values);
      return;
    }
    root -= task_.cell.next.size();
    if (root < task_.cell.outputs.size()) {
      const step::Row& output = task_.cell.outputs[root];
      return now.store(outputs_.at(output.tensor), output.row, values);
    }
    const RowRef& product = saved_.at(root - task_.cell.outputs.size());
    now.store(products_.at(product.tensor.tensor), product.row, values);
  }

  std::vector<RowRef> saved_;  // as forward_roots() has them, behind the outputs
  std::map<TensorId, int> staged_, outputs_, histories_, products_;  // products_: by matrix
  std::map<TensorId, KernelTensor> first_, last_;
};

}  // namespace

Launch persistent_forward(const Task& task, const PersistentParameters& parameters) {
  return ForwardBuilder(task, parameters).build();
}

}  // namespace rondo::schedule
