#include "compiler/schedule/sweep/sweep.h"

#include <algorithm>

#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/analysis/saved_products.h"

namespace rondo::schedule {

using step::Row;

namespace {

int carry_of(const step::Cell& cell, step::TensorId state, int row) {
  const auto found = std::ranges::find_if(
      cell.next, [&](const Row& next) { return next.tensor == state && next.row == row; });
  return static_cast<int>(found - cell.next.begin());
}

SweepSource carry(int index) { return {SweepSource::Kind::Carry, index, {}, {}}; }
SweepSource now(RowRef row) { return {SweepSource::Kind::Now, 0, row, {}}; }
SweepSource flag(const step::Cell& cell, step::TensorId id) {
  const bool reset = cell.tensor(id).kind == TensorKind::Reset;
  return {SweepSource::Kind::Flag, 0, {{reset ? Role::Resets : Role::Lengths, id}, 0}, {}};
}
SweepSink into_carry(std::size_t index) { return {SweepSink::Kind::Carry, static_cast<int>(index), {}}; }
SweepSink into(RowRef row) { return {SweepSink::Kind::Now, 0, row}; }

void find_ends(const step::Cell& cell, Role first, Role last, Sweep& sweep) {
  for (const Row& next : cell.next) {
    sweep.first.push_back({{first, next.tensor}, next.row});
    sweep.last.push_back({{last, next.tensor}, next.row});
  }
}

SweepSource backward_source(const step::Cell& cell, const BackwardSplit& split, NodeId id) {
  const Node& node = split.sweep.at(id);
  if (node.kind == NodeKind::MatVec) return now(split.products.at(id));
  if (node.kind == NodeKind::Gradient) {
    const step::GradientRef& g = node.gradient;
    if (g.of == step::GradientRef::Of::NextState) return carry(carry_of(cell, g.tensor, g.row));
    return now({{Role::OutputGradient, g.tensor}, g.row});
  }
  const TensorKind kind = cell.tensor(node.tensor).kind;
  if (step::is_flag(kind)) return flag(cell, node.tensor);
  if (kind == TensorKind::Input) return now({{Role::Input, node.tensor}, node.row});
  return {SweepSource::Kind::Before,
          0,
          split.needs.history.at({node.tensor, node.row}),
          {{Role::InitialState, node.tensor}, node.row}};
}

bool is_param(const step::Cell& cell, const Node& node) {
  return node.kind == NodeKind::Leaf && cell.tensor(node.tensor).kind == TensorKind::Param;
}

// A product without an operand stands for a value that is read.
bool is_read(const Node& node) {
  return node.kind == NodeKind::Leaf || node.kind == NodeKind::Gradient ||
         (node.kind == NodeKind::MatVec && node.operands.empty());
}

}  // namespace

Sweep forward_sweep(const Task& task) {
  Sweep sweep;
  sweep.step = spread_sweep(task, Steps::OfLaunches).step;
  for (const NodeId id : reachable(sweep.step.graph, sweep.step.roots)) {
    const Node& node = sweep.step.graph.at(id);
    if (!is_read(node) || is_param(task.cell, node)) continue;
    const TensorKind kind = task.cell.tensor(node.tensor).kind;
    sweep.sources[id] = step::is_flag(kind)         ? flag(task.cell, node.tensor)
                        : kind == TensorKind::State ? carry(carry_of(task.cell, node.tensor, node.row))
                                                    : now({{Role::Input, node.tensor}, node.row});
  }
  std::vector<step::TensorId> stored;
  if (task.problem.pass == Pass::ForwardSave) stored = stored_histories(task.cell);
  for (std::size_t k = 0; k < task.cell.next.size(); ++k) {
    const Row& next = task.cell.next[k];
    sweep.sinks.push_back({into_carry(k)});
    if (std::ranges::find(stored, next.tensor) != stored.end())
      sweep.sinks.back().push_back(into({{Role::History, next.tensor}, next.row}));
  }
  for (const Row& output : task.cell.outputs)
    sweep.sinks.push_back({into({{Role::Output, output.tensor}, output.row})});
  if (task.problem.pass == Pass::ForwardSave && passes_products(task.problem))
    for (const auto& [node, where] : saved_products(task.cell)) sweep.sinks.push_back({into(where)});
  find_ends(task.cell, Role::InitialState, Role::LastState, sweep);
  return sweep;
}

Sweep backward_sweep(const Task& task, const BackwardSplit& split) {
  return backward_sweep(task, split, spread_sweep(task, split, Steps::OfBlock));
}

Sweep backward_sweep(const Task& task, const BackwardSplit& split, const SpreadSweep& spread) {
  const step::Cell& cell = task.cell;
  const step::BackwardStep& step = split.needs.step;
  Sweep sweep;
  sweep.order = TimeOrder::Backward;
  sweep.step = spread.step;
  sweep.scratch_rows = scratch_rows(split, spread);
  sweep.sum_rows = param_rows(cell);
  for (const NodeId id : reachable(sweep.step.graph, sweep.step.roots))
    if (is_read(sweep.step.graph.at(id)) && !is_param(cell, sweep.step.graph.at(id)))
      sweep.sources[id] = spread.head_value_row(id) >= 0
                              ? now({{Role::Scratch, kHeadValues}, spread.head_value_row(id)})
                              : backward_source(cell, split, spread.origin[static_cast<std::size_t>(id)]);
  for (const Row& row : step.previous_states)
    sweep.sinks.push_back({into_carry(static_cast<std::size_t>(carry_of(cell, row.tensor, row.row)))});
  for (const Row& row : step.inputs)
    sweep.sinks.push_back({into({{Role::InputGradient, row.tensor}, row.row})});
  for (const Row& row : step.params)
    sweep.sinks.push_back({{SweepSink::Kind::Sum, first_param_row(cell, row.tensor) + row.row, {}}});
  for (std::size_t left = 0; left < split.lefts.size(); ++left)
    sweep.sinks.push_back({into({{Role::Scratch, kLefts}, static_cast<int>(left)})});
  find_ends(cell, Role::LastStateGradient, Role::InitialStateGradient, sweep);
  return sweep;
}

}  // namespace rondo::schedule
