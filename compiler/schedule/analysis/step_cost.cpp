#include "compiler/schedule/analysis/step_cost.h"

#include <algorithm>

#include "compiler/schedule/analysis/carried.h"
#include "compiler/schedule/analysis/history.h"

namespace rondo::schedule {
namespace {

constexpr double kNotCarried = -1;
// Instructions of a draw: ten rounds of two products of two words, two exclusive ors and two sums of keys. A
// product of 64 bits counts twice.
constexpr int kDraw = 100;

bool is_parameter(const step::Cell& cell, const Node& node) {
  return node.kind == NodeKind::Leaf && cell.tensor(node.tensor).kind == step::TensorKind::Param;
}

// Calls `varies(op, at)` for each operation that changes from step to step, operands before users, and
// before it `reached(node, at)` for every node.
template <class Reached, class Varies>
void walk(const Task& task, const step::Graph& graph, const std::vector<NodeId>& roots,
          const Reached& reached, const Varies& varies) {
  std::vector<bool> invariant(graph.nodes.size(), false);
  for (const NodeId id : reachable(graph, roots)) {
    const auto at = static_cast<std::size_t>(id);
    const Node& node = graph.at(id);
    invariant[at] =
        node.kind == NodeKind::Constant || node.kind == NodeKind::NamedConst || is_parameter(task.cell, node);
    reached(node, at);
    if (node.kind != NodeKind::Scalar) continue;
    invariant[at] = std::ranges::all_of(
        node.operands, [&](NodeId operand) { return invariant[static_cast<std::size_t>(operand)]; });
    if (!invariant[at]) varies(scalar::info(node.op), at);
  }
}

}  // namespace

double longest_chain(const Task& task, const step::Graph& graph, const std::vector<NodeId>& roots,
                     const std::function<double(const scalar::OpInfo&)>& latency, Across across) {
  double longest = 0;
  std::vector<double> path(graph.nodes.size(), kNotCarried);
  const auto reached = [&](const Node& node, std::size_t at) {
    if (is_carried(task, node)) path[at] = 0;
    if (node.kind != NodeKind::Scalar && across == Across::Ends) return;
    for (const NodeId operand : node.operands)
      path[at] = std::max(path[at], path[static_cast<std::size_t>(operand)]);
  };
  walk(task, graph, roots, reached, [&](const scalar::OpInfo& op, std::size_t at) {
    if (path[at] != kNotCarried) path[at] += latency(op);
    longest = std::max(longest, path[at]);
  });
  return longest;
}

StepCost step_cost(const Task& task, const step::Graph& graph, const std::vector<NodeId>& roots) {
  const auto cost_of = [&](const scalar::OpInfo& op) -> const scalar::Cost& {
    return task.problem.math == kernel::Math::Fast ? op.fast : op.accurate;
  };
  StepCost cost;
  const auto reached = [&](const Node& node, std::size_t) {
    if (node.kind == NodeKind::Uniform) cost.alu += kDraw;
  };
  walk(task, graph, roots, reached, [&](const scalar::OpInfo& op, std::size_t) {
    cost.alu += cost_of(op).alu;
    cost.special += cost_of(op).special;
  });
  const auto latency = [&](const scalar::OpInfo& op) { return cost_of(op).latency; };
  cost.chain = static_cast<int>(longest_chain(task, graph, roots, latency, Across::Ends));
  return cost;
}

}  // namespace rondo::schedule
