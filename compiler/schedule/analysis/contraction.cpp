#include "compiler/schedule/analysis/contraction.h"

#include <algorithm>

namespace rondo::schedule {

bool may_contract(const Task& task) {
  const step::Graph& graph = task.cell.graph;
  const auto is_maximum = [&](step::NodeId id) { return graph.at(id).kind == step::NodeKind::ReduceMax; };
  // A backward pass derives the comparison from the maximum; a tangent cell has it in its step.
  return std::ranges::none_of(graph.nodes, [&](const step::Node& node) {
    if (task.problem.pass == Pass::Backward) return node.kind == step::NodeKind::ReduceMax;
    return node.kind == step::NodeKind::Scalar && node.op == scalar::Op::Equal &&
           std::ranges::any_of(node.operands, is_maximum);
  });
}

}  // namespace rondo::schedule
