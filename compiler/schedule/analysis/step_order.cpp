#include "compiler/schedule/analysis/step_order.h"

#include <algorithm>
#include <set>

#include "compiler/schedule/analysis/history.h"

namespace rondo::schedule {

using step::Node;
using step::NodeId;
using step::NodeKind;

namespace {

// What a node's value waits for.
struct Waits {
  bool carry = false;  // for the step before
  bool step = false;   // for inputs or draws of the step
};

Waits waits_of_leaf(const step::Cell& cell, const Problem& problem, const Node& node, bool product) {
  if (product || is_carried(cell, problem, node)) return {true, true};
  if (node.kind == NodeKind::Leaf)
    return {false, cell.tensors[static_cast<std::size_t>(node.tensor)].kind != step::TensorKind::Param};
  return {false, node.kind == NodeKind::Gradient || node.kind == NodeKind::MatVec ||
                     node.kind == NodeKind::MatTVec || node.kind == NodeKind::Uniform};
}

}  // namespace

StepOrder step_order(const step::Cell& cell, const Problem& problem, const StepGraph& step,
                     const std::vector<ProductGroup>& groups) {
  const step::Graph& graph = step.graph;
  const auto at = [](NodeId id) { return static_cast<std::size_t>(id); };
  std::vector<int> level(graph.nodes.size(), -1);               // of products
  std::set<NodeId> read(step.roots.begin(), step.roots.end());  // by others than early arithmetic
  for (const ProductGroup& group : groups) {
    read.insert(group.vector);
    for (const Product& product : group.products) level[at(product.node)] = group.level;
  }
  StepOrder order;
  order.after.assign(graph.nodes.size(), 0);
  std::vector<Waits> waits(graph.nodes.size());
  for (const NodeId id : reachable(graph, step.roots)) {
    const Node& node = graph.at(id);
    Waits& own = waits[at(id)] = waits_of_leaf(cell, problem, node, level[at(id)] >= 0);
    order.after[at(id)] = level[at(id)] + 1;
    for (const NodeId operand : node.operands) {
      own.carry = own.carry || waits[at(operand)].carry;
      own.step = own.step || waits[at(operand)].step;
      order.after[at(id)] = std::max(order.after[at(id)], order.after[at(operand)]);
    }
    if (own.carry)
      read.insert(node.operands.begin(), node.operands.end());
    else if (own.step && node.kind == NodeKind::Scalar)
      order.early.push_back(id);
  }
  for (const NodeId id : order.early)
    if (read.count(id) != 0) order.handed.push_back(id);
  return order;
}

}  // namespace rondo::schedule
