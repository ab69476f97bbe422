#include "compiler/step/simplify.h"

#include <algorithm>

#include "compiler/step/rewriter.h"
#include "compiler/step/verify.h"
#include "compiler/support/index.h"

namespace rondo::step {

namespace {

// A name belongs to what is computed; leaves and constants have theirs already.
bool takes_label(const Node& node) {
  return node.label.empty() && node.kind != NodeKind::Leaf && node.kind != NodeKind::Constant &&
         node.kind != NodeKind::NamedConst && node.kind != NodeKind::HeadSize;
}

// Removes what no root needs; nodes below keep_prefix stay. `roots` are renumbered.
Graph remove_dead(const Graph& graph, std::vector<NodeId>& roots, NodeId keep_prefix) {
  std::vector<bool> live(graph.nodes.size(), false);
  std::fill_n(live.begin(), keep_prefix, true);
  for (const NodeId root : roots)
    if (root != kNoNode) live[at(root)] = true;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (!live[i]) continue;
    for (const NodeId operand : graph.nodes[i].operands) live[at(operand)] = true;
  }
  Graph kept;
  std::vector<NodeId> renumbered(graph.nodes.size(), kNoNode);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!live[i]) continue;
    Node node = graph.nodes[i];
    for (NodeId& operand : node.operands) operand = renumbered[at(operand)];
    renumbered[i] = kept.add(std::move(node));
  }
  for (NodeId& root : roots)
    if (root != kNoNode) root = renumbered[at(root)];
  return kept;
}

}  // namespace

Graph simplify(const Graph& graph, std::vector<NodeId*> roots, NodeId keep_prefix) {
  Rewriter rewriter(keep_prefix > 0);
  std::vector<NodeId> made(graph.nodes.size(), kNoNode);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node node = graph.nodes[i];
    if (i < at(keep_prefix)) {
      // Kept as it is, though what follows uses the first of equal nodes.
      made[i] = rewriter.keep(node);
      continue;
    }
    for (NodeId& operand : node.operands) operand = made[at(operand)];
    made[i] = rewriter.make(node);
    Node& result = rewriter.graph().nodes[at(made[i])];
    if (made[i] >= keep_prefix && takes_label(result)) result.label = node.label;
  }
  std::vector<NodeId> values;
  values.reserve(roots.size());
  for (const NodeId* root : roots) values.push_back(*root == kNoNode ? kNoNode : made[at(*root)]);
  Graph result = remove_dead(rewriter.graph(), values, keep_prefix);
  for (std::size_t i = 0; i < roots.size(); ++i) *roots[i] = values[i];
  return result;
}

StepGraph simplified(StepGraph step) {
  std::vector<NodeId*> roots;
  for (NodeId& root : step.roots) roots.push_back(&root);
  step.graph = simplify(step.graph, std::move(roots));
  return step;
}

Cell simplify(const Cell& cell) {
  Cell result = cell;
  std::vector<NodeId*> roots;
  for (std::vector<Row>* rows : {&result.next, &result.outputs})
    for (Row& row : *rows) roots.push_back(&row.value);
  result.graph = simplify(cell.graph, std::move(roots));
  return result;
}

Cell simplified(const Cell& cell, pipeline::PassWatcher* watcher) {
  return pipeline::watched(
      watcher, pipeline::Pass::Simplify, [&] { return simplify(cell); },
      [](const Cell& simple) { return made(simple); });
}

}  // namespace rondo::step
