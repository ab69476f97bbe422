#include "compiler/schedule/host/affine_sweep.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/schedule/analysis/history.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

bool same_read(const Node& a, const Node& b) {
  return a.kind == b.kind && a.tensor == b.tensor && a.row == b.row && a.gradient.of == b.gradient.of &&
         a.gradient.tensor == b.gradient.tensor && a.gradient.row == b.gradient.row;
}

bool reads_memory(const step::Cell& cell, const Node& node) {
  if (node.kind == NodeKind::Gradient) return true;
  return node.kind == NodeKind::Leaf && cell.tensor(node.tensor).kind != step::TensorKind::Param;
}

// Appends the nodes of the coefficients to the sweep's graph, and says of each leaf where it is found: where
// the sweep finds the same one.
void append(const step::Cell& cell, const step::StepGraph& carry_free, AffineSweep& result) {
  step::Graph& graph = result.sweep.step.graph;
  const auto first = static_cast<NodeId>(graph.nodes.size());
  for (Node node : carry_free.graph.nodes) {
    for (NodeId& operand : node.operands) operand += first;
    graph.nodes.push_back(std::move(node));
  }
  for (const NodeId root : carry_free.roots) result.coefficients.push_back(root + first);
  for (const NodeId id : reachable(graph, result.coefficients)) {
    if (!reads_memory(cell, graph.at(id))) continue;
    const auto found = std::ranges::find_if(result.sweep.sources, [&](const auto& source) {
      return same_read(graph.at(source.first), graph.at(id));
    });
    if (found == result.sweep.sources.end())
      throw std::logic_error("a coefficient reads what its step does not");
    result.sweep.sources[id] = SweepSource(found->second);
  }
}

}  // namespace

std::vector<NodeId> AffineSweep::all_roots() const {
  std::vector<NodeId> roots = sweep.step.roots;
  roots.insert(roots.end(), coefficients.begin(), coefficients.end());
  return roots;
}

std::optional<AffineSweep> affine_sweep(const Task& task, const Sweep& sweep) {
  step::StepGraph carried{sweep.step.graph, {}};
  std::vector<std::size_t> carry_of_root;
  for (std::size_t root = 0; root < sweep.sinks.size(); ++root)
    for (const SweepSink& sink : sweep.sinks[root])
      if (sink.kind == SweepSink::Kind::Carry) {
        carried.roots.push_back(sweep.step.roots[root]);
        carry_of_root.push_back(at(sink.index));
      }
  if (carried.roots.size() != sweep.first.size()) return std::nullopt;
  const std::optional<LinearStep> linear = linear_step(task, carried);
  if (!linear) return std::nullopt;
  AffineSweep result;
  result.sweep = sweep;
  result.carries.resize(sweep.first.size());
  for (std::size_t root = 0; root < carry_of_root.size(); ++root)
    result.carries[carry_of_root[root]] = linear->roots[root];
  result.shifts = linear->shifts;
  append(task.cell, linear->carry_free, result);
  return result;
}

}  // namespace rondo::schedule
