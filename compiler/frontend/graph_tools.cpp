#include "compiler/frontend/graph_tools.h"

#include <algorithm>

#include "compiler/support/index.h"

namespace rondo::frontend {
namespace {

using step::Graph;
using step::Node;
using step::NodeId;
using step::NodeKind;

// The nodes `roots` depend on, themselves included. Operands come before users, so one backward walk is
// enough.
std::vector<bool> reachable(const Graph& graph, const std::vector<NodeId>& roots) {
  std::vector<bool> needed(graph.nodes.size(), false);
  for (const NodeId root : roots) needed[at(root)] = true;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const NodeId operand : graph.nodes[i].operands) needed[at(operand)] = true;
  }
  return needed;
}

Origin own_origin(const Node& node) {
  switch (node.kind) {
    case NodeKind::Constant:
    case NodeKind::Scalar: return Origin::Literals;
    case NodeKind::NamedConst:
    case NodeKind::HeadSize: return Origin::Consts;
    case NodeKind::Leaf:
    case NodeKind::MatVec:
    case NodeKind::MatTVec:
    case NodeKind::MaxPlus:
    case NodeKind::ArgMaxPlus:
    case NodeKind::ScatterSum:
    case NodeKind::ReduceSum:
    case NodeKind::ReduceMax:
    case NodeKind::ReduceSpread:
    case NodeKind::Shift:
    case NodeKind::Rotate:
    case NodeKind::PrefixSum:
    case NodeKind::SuffixSum:
    case NodeKind::SumRows:
    case NodeKind::Gradient:
    case NodeKind::Uniform:
    case NodeKind::StepIndex: return Origin::Tensors;
  }
  return Origin::Tensors;
}

}  // namespace

Origin origin_of(const Graph& graph, NodeId node) {
  const std::vector<bool> needed = reachable(graph, {node});
  Origin origin = Origin::Literals;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) origin = std::max(origin, own_origin(graph.nodes[i]));
  }
  return origin;
}

double evaluate(const Graph& graph, NodeId node) {
  const std::vector<bool> needed = reachable(graph, {node});
  std::vector<double> values(graph.nodes.size(), 0);
  for (std::size_t i = 0; i <= at(node); ++i) {
    if (!needed[i]) continue;
    const Node& current = graph.nodes[i];
    std::vector<double> operands;
    for (const NodeId operand : current.operands) operands.push_back(values[at(operand)]);
    values[i] = current.kind == NodeKind::Constant ? current.value : scalar::evaluate(current.op, operands);
  }
  return values[at(node)];
}

void drop_unused_nodes(step::Cell& cell) {
  std::vector<NodeId> roots;
  for (const step::Row& row : cell.next) roots.push_back(row.value);
  for (const step::Row& row : cell.outputs) roots.push_back(row.value);
  const std::vector<bool> needed = reachable(cell.graph, roots);
  std::vector<NodeId> renamed(needed.size(), step::kNoNode);
  Graph kept;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    renamed[i] = static_cast<NodeId>(kept.nodes.size());
    kept.nodes.push_back(std::move(cell.graph.nodes[i]));
    for (NodeId& operand : kept.nodes.back().operands) operand = renamed[at(operand)];
  }
  cell.graph = std::move(kept);
  for (step::Row& row : cell.next) row.value = renamed[at(row.value)];
  for (step::Row& row : cell.outputs) row.value = renamed[at(row.value)];
}

}  // namespace rondo::frontend
