#include "compiler/schedule/analysis/step_cost.h"

#include <algorithm>

#include "compiler/schedule/analysis/carried.h"
#include "compiler/schedule/analysis/history.h"

namespace rondo::schedule {
namespace {

constexpr int kNotCarried = -1;
// Instructions of a draw: ten rounds of two products of two words, two exclusive ors and two sums of keys. A
// product of 64 bits counts twice.
constexpr int kDraw = 100;

bool is_parameter(const step::Cell& cell, const Node& node) {
  return node.kind == NodeKind::Leaf && cell.tensor(node.tensor).kind == step::TensorKind::Param;
}

}  // namespace

StepCost step_cost(const Task& task, const step::Graph& graph, const std::vector<NodeId>& roots) {
  StepCost cost;
  std::vector<int> path(graph.nodes.size(), kNotCarried);
  std::vector<bool> invariant(graph.nodes.size(), false);
  for (const NodeId id : reachable(graph, roots)) {
    const auto at = static_cast<std::size_t>(id);
    const Node& node = graph.at(id);
    invariant[at] =
        node.kind == NodeKind::Constant || node.kind == NodeKind::NamedConst || is_parameter(task.cell, node);
    if (is_carried(task, node)) path[at] = 0;
    if (node.kind == NodeKind::Uniform) cost.alu += kDraw;
    if (node.kind != NodeKind::Scalar) continue;
    invariant[at] = true;
    for (const NodeId operand : node.operands) {
      path[at] = std::max(path[at], path[static_cast<std::size_t>(operand)]);
      invariant[at] = invariant[at] && invariant[static_cast<std::size_t>(operand)];
    }
    if (invariant[at]) continue;
    const scalar::OpInfo& op = scalar::info(node.op);
    const scalar::Cost& c = task.problem.math == kernel::Math::Fast ? op.fast : op.accurate;
    cost.alu += c.alu;
    cost.special += c.special;
    if (path[at] != kNotCarried) path[at] += c.latency;
    cost.chain = std::max(cost.chain, path[at]);
  }
  return cost;
}

}  // namespace rondo::schedule
