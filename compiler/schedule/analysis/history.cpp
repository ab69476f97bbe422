#include "compiler/schedule/analysis/history.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/step/declared.h"
#include "compiler/step/verify.h"

namespace rondo::schedule {

std::vector<NodeId> reachable(const step::Graph& graph, const std::vector<NodeId>& roots) {
  std::vector<bool> seen(graph.nodes.size(), false);
  for (const NodeId root : roots)
    if (root != step::kNoNode) seen[static_cast<std::size_t>(root)] = true;
  for (std::size_t id = graph.nodes.size(); id-- > 0;)
    if (seen[id])
      for (const NodeId operand : graph.nodes[id].operands) seen[static_cast<std::size_t>(operand)] = true;
  std::vector<NodeId> result;
  for (std::size_t id = 0; id < seen.size(); ++id)
    if (seen[id]) result.push_back(static_cast<NodeId>(id));
  return result;
}

std::vector<NodeId> forward_roots(const step::Cell& cell) {
  std::vector<NodeId> roots;
  for (const auto* rows : {&cell.next, &cell.outputs})
    for (const step::Row& row : *rows) roots.push_back(step::value_of(cell.graph, row.value));
  return roots;
}

step::StepGraph forward_step(const step::Cell& cell) {
  return {step::values_only(cell.graph), forward_roots(cell)};
}

step::StepGraph forward_step(const Task& task) {
  return {step::values_only(task.cell.graph), forward_roots(task)};
}

std::vector<NodeId> forward_roots(const Task& task) {
  std::vector<NodeId> roots = forward_roots(task.cell);
  if (task.problem.pass != Pass::ForwardSave || !passes_products(task.problem)) return roots;
  for (const auto& [node, where] : saved_products(task.cell)) {
    if (!step::is_product(task.cell.graph.at(node)))
      throw std::logic_error("a cell whose products are saved must be simplified");
    roots.push_back(node);
  }
  return roots;
}

std::vector<NodeId> roots_of(const step::BackwardStep& step) {
  std::vector<NodeId> roots;
  for (const auto* rows : {&step.previous_states, &step.inputs, &step.params})
    for (const step::Row& row : *rows) roots.push_back(row.value);
  for (const step::MatrixGradient& matrix : step.matrices)
    roots.insert(roots.end(), {matrix.left, matrix.right});
  return roots;
}

namespace {

// An output row that carries this state row, or {-1, 0, ...}.
step::Row output_carrying(const step::Cell& cell, step::TensorId state, int row) {
  for (const step::Row& output : cell.outputs) {
    const auto behind = cell.state_behind(output);
    if (behind && behind->tensor == state && behind->row == row) return output;
  }
  return {};
}

// All rows of the state are carried by outputs: no history tensor of its own.
bool carried(const step::Cell& cell, step::TensorId state) {
  for (int row = 0; row < cell.tensor(state).rows; ++row)
    if (output_carrying(cell, state, row).tensor < 0) return false;
  return true;
}

void add_history(const step::Cell& cell, const step::Node& leaf, BackwardNeeds& needs) {
  RowRef where{{Role::History, leaf.tensor}, leaf.row};
  if (carried(cell, leaf.tensor)) {
    const step::Row output = output_carrying(cell, leaf.tensor, leaf.row);
    where = {{Role::Output, output.tensor}, output.row};
  }
  needs.history.emplace(std::pair{leaf.tensor, leaf.row}, where);
  if (std::ranges::find(needs.history_tensors, where.tensor) == needs.history_tensors.end())
    needs.history_tensors.push_back(where.tensor);
}

BackwardNeeds needs_of(const step::Cell& cell, pipeline::PassWatcher* watcher) {
  BackwardNeeds needs;
  needs.step = pipeline::watched(
      watcher, pipeline::Pass::Differentiate, [&] { return step::backward_step(cell); },
      [&](const step::BackwardStep& step) { return step::made(cell, step); });
  for (const NodeId id : reachable(needs.step.graph, roots_of(needs.step))) {
    const step::Node& node = needs.step.graph.at(id);
    if (node.kind != NodeKind::Leaf) continue;
    const TensorKind kind = cell.tensor(node.tensor).kind;
    if (kind == TensorKind::State) add_history(cell, node, needs);
    if (kind == TensorKind::Input && std::ranges::find(needs.inputs, node.tensor) == needs.inputs.end())
      needs.inputs.push_back(node.tensor);
  }
  return needs;
}

}  // namespace

BackwardNeeds backward_needs(const step::Cell& cell) { return needs_of(cell, nullptr); }
BackwardNeeds backward_needs(const Task& task) {
  return *task.fact<BackwardNeeds>("what the backward pass needs",
                                   [&] { return needs_of(task.cell, task.watcher); });
}

int history_rows(const Task& task, step::TensorId state) {
  const int times =
      kernel::storage_bytes(task.history_storage(state)) / kernel::storage_bytes(task.problem.storage);
  return times * task.cell.tensor(state).rows;
}

std::vector<step::TensorId> stored_histories(const step::Cell& cell) {
  std::vector<step::TensorId> result;
  for (const TensorRef& tensor : backward_needs(cell).history_tensors)
    if (tensor.role == Role::History) result.push_back(tensor.tensor);
  return result;
}

}  // namespace rondo::schedule
