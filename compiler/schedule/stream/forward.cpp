#include <fmt/format.h>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/stream/body.h"
#include "compiler/schedule/stream/strategy.h"

namespace rondo::schedule {
namespace {

class ForwardBuilder : StreamBody {
 public:
  ForwardBuilder(const Task& task, const DealtPass& dealt, const StreamParameters& parameters)
      : StreamBody(task, dealt, parameters,
                   fmt::format("{}_stream_{}", task.cell.name, pass_name(task.problem.pass)),
                   fmt::format("{}: stream forward, {} in memory", task.cell.name,
                               kernel::storage_name(task.problem.storage)),
                   TimeOrder::Forward) {}

  Launch build() {
    declare();
    // Where blocks split time, no thread that stores histories knows the last states; all can read the first.
    if (histories_.empty() || !parameters_.among_blocks() ||
        task_.cell.direction == step::Direction::Reversed)
      stream_.threads().stop_early();
    stream_.place();
    declare_carries("");
    load_start(ends_);
    // Invariant values are computed by every thread (on zeros where it has no channel), so that all scopes
    // below see them.
    hoist();
    walk_steps(
        ends_,
        [&](const step::Node& node, const StreamKernel::Staged& staged, const AtStart&, int channel) {
          return leaf(node, staged, channel);
        },
        [&](const Results& results) { consume(results); });
    store_carries(ends_);
    stream_.write_past_end([&](int written, int row) { return past_end(written, row); });
    return stream_.threads().finish();
  }

 private:
  void declare() {
    for (const TensorId id : task_.cell.of_kind(TensorKind::Input))
      staged_[id] = is_shared(id) ? stream_.values().add({Role::Input, id})
                                  : stream_.ring().add({Role::Input, id}, false);
    declare_params();
    stream_.threads().flags().declare(all_computed().graph, all_computed().roots);
    for (const TensorId id : task_.cell.of_kind(TensorKind::State))
      ends_.first[id] = stream_.signature().reads({Role::InitialState, id});
    for (const TensorId id : task_.cell.of_kind(TensorKind::Output))
      outputs_[id] = stream_.written().add({Role::Output, id});
    if (task_.problem.pass == Pass::ForwardSave)
      for (const TensorId id : stored_histories(whole_.cell))
        histories_[id] = stream_.written().add({Role::History, id});
    for (const TensorId id : task_.cell.of_kind(TensorKind::State))
      ends_.last[id] = stream_.signature().writes({Role::LastState, id});
  }

  Value leaf(const step::Node& node, const StreamKernel::Staged& staged, int channel) {
    if (step::is_of_place(node)) return draw(lowering_, node, channel);
    switch (tensor(node.tensor).kind) {
      case TensorKind::Input:
        if (is_shared(node.tensor)) return stream_.values().value(staged_.at(node.tensor), node.row);
        return staged(staged_.at(node.tensor), node.row, channel);
      case TensorKind::State: return carry(node.tensor, node.row, channel);
      case TensorKind::Reset:
      case TensorKind::Length: return stream_.values().flag(node.tensor);
      default: return param(node, channel);
    }
  }

  // A history has the last state there, and an output zeros. Where time is reversed these steps come before
  // all others, and a history has the initial state.
  std::vector<Value> past_end(int written, int row) {
    std::vector<Value> values;
    for (const auto& [state, history] : histories_)
      for (int channel = 0; history == written && channel < parameters_.per_thread; ++channel)
        values.push_back(stream_.signature().by_direction([&] { return carry(state, row, channel); },
                                                          [&] { return first_state(state, row, channel); }));
    return values;
  }

  Value first_state(TensorId state, int row, int channel) {
    const KernelTensor& first = ends_.first.at(state);
    return stream_.builder().load("first", first.memory[first_place(first, row, channel)]);
  }

  void consume(const Results& results) {
    for (std::size_t o = 0; o < task_.cell.outputs.size(); ++o)
      stream_.written().store(outputs_.at(task_.cell.outputs[o].tensor), task_.cell.outputs[o].row,
                              column(results, task_.cell.next.size() + o));
    for (std::size_t k = 0; k < task_.cell.next.size(); ++k)
      if (const auto kept = histories_.find(task_.cell.next[k].tensor); kept != histories_.end())
        stream_.written().store(kept->second, task_.cell.next[k].row, column(results, k));
  }

  std::map<TensorId, int> staged_, outputs_, histories_;
  CarryEnds ends_{{}, {}, "last states"};
};

}  // namespace

Launch stream_forward(const Task& task, const StreamParameters& parameters) {
  const auto dealt = dealt_pass(task, parameters.row_lanes);
  return ForwardBuilder(task, dealt->value(), parameters).build();
}

}  // namespace rondo::schedule
