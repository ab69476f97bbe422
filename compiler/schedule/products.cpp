#include "compiler/schedule/products.h"

#include <algorithm>

#include "compiler/schedule/history.h"

namespace rondo::schedule {

using step::Node;
using step::NodeId;
using step::NodeKind;

namespace {

bool is_product(const Node& node) {
  return (node.kind == NodeKind::MatVec || node.kind == NodeKind::MatTVec) && !node.operands.empty();
}

}  // namespace

std::vector<ProductGroup> product_groups(const step::Graph& graph, const std::vector<NodeId>& roots) {
  std::vector<int> level(graph.nodes.size(), 0);  // products the node depends on, the longest chain
  std::vector<ProductGroup> groups;
  for (const NodeId id : reachable(graph, roots)) {
    const Node& node = graph.at(id);
    auto& own = level[static_cast<std::size_t>(id)];
    for (const NodeId operand : node.operands) own = std::max(own, level[static_cast<std::size_t>(operand)]);
    if (!is_product(node)) continue;
    const NodeId vector = node.operands[0];
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const ProductGroup& g) { return g.vector == vector; });
    if (group == groups.end()) group = groups.insert(groups.end(), {vector, own, {}});
    group->products.push_back({id, node.tensor, node.row, node.kind == NodeKind::MatTVec});
    ++own;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const ProductGroup& a, const ProductGroup& b) { return a.level < b.level; });
  return groups;
}

int levels_of(const std::vector<ProductGroup>& groups) {
  return groups.empty() ? 0 : groups.back().level + 1;
}

step::Graph detach_products(step::Graph graph, NodeId end) {
  for (NodeId id = 0; id < end; ++id) {
    Node& node = graph.nodes[static_cast<std::size_t>(id)];
    if (is_product(node)) node.operands.clear();
  }
  return graph;
}

}  // namespace rondo::schedule
