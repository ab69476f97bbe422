#include "compiler/schedule/analysis/product_groups.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "compiler/schedule/analysis/history.h"

namespace rondo::schedule {

namespace {

bool is_whole_product(const Node& node) { return step::is_product(node) && !node.operands.empty(); }

ProductKind kind_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::MaxPlus: return ProductKind::Max;
    case NodeKind::ArgMaxPlus: return ProductKind::Channel;
    case NodeKind::ScatterSum: return ProductKind::Scatter;
    default: return ProductKind::Sum;
  }
}

// A value that is read stands as a product of a matrix, whatever has made it.
void detach(Node& node) {
  if (node.kind != NodeKind::MatTVec) node.kind = NodeKind::MatVec;
  node.operands.clear();
}

}  // namespace

std::vector<ProductGroup> product_groups(const step::Graph& graph, const std::vector<NodeId>& roots) {
  std::vector<int> level(graph.nodes.size(), 0);  // products the node depends on, the longest chain
  std::vector<ProductGroup> groups;
  for (const NodeId id : reachable(graph, roots)) {
    const Node& node = graph.at(id);
    auto& own = level[static_cast<std::size_t>(id)];
    for (const NodeId operand : node.operands) own = std::max(own, level[static_cast<std::size_t>(operand)]);
    if (!is_whole_product(node)) continue;
    const NodeId vector = node.operands[0];
    const ProductKind kind = kind_of(node);
    auto group = std::ranges::find_if(
        groups, [&](const ProductGroup& g) { return g.vector == vector && g.kind == kind; });
    if (group == groups.end()) group = groups.insert(groups.end(), {vector, own, {}, kind});
    group->products.push_back({id, node.tensor, node.row, node.kind == NodeKind::MatTVec,
                               kind == ProductKind::Scatter ? node.operands[1] : step::kNoNode});
    ++own;
  }
  std::ranges::stable_sort(groups,
                           [](const ProductGroup& a, const ProductGroup& b) { return a.level < b.level; });
  return groups;
}

int levels_of(const std::vector<ProductGroup>& groups) {
  return groups.empty() ? 0 : groups.back().level + 1;
}

std::vector<std::size_t> with_same_matrices(const std::vector<ProductGroup>& groups) {
  const auto alike = [](const Product& a, const Product& b) {
    return a.matrix == b.matrix && a.row == b.row && a.transposed == b.transposed;
  };
  std::vector<std::size_t> first;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    std::size_t other = 0;
    while (other < group && !(groups[other].kind == groups[group].kind &&
                              std::ranges::equal(groups[other].products, groups[group].products, alike)))
      ++other;
    first.push_back(other);
  }
  return first;
}

namespace {

// By node: the outermost addition that it is only a summand of, through additions used once; itself if none.
std::vector<NodeId> outermost_additions(const step::Graph& graph, const std::vector<NodeId>& roots) {
  const std::vector<NodeId> needed = reachable(graph, roots);
  std::vector<int> uses(graph.nodes.size(), 0);
  for (const NodeId root : roots)
    if (root != step::kNoNode) ++uses[static_cast<std::size_t>(root)];
  for (const NodeId id : needed)
    for (const NodeId operand : graph.at(id).operands) ++uses[static_cast<std::size_t>(operand)];
  std::vector<NodeId> outermost(graph.nodes.size());
  for (std::size_t id = 0; id < outermost.size(); ++id) outermost[id] = static_cast<NodeId>(id);
  for (auto id = needed.rbegin(); id != needed.rend(); ++id) {  // users before what they use
    const Node& node = graph.at(*id);
    if (node.kind != NodeKind::Scalar || node.op != scalar::Op::Add) continue;
    for (const NodeId operand : node.operands)
      if (uses[static_cast<std::size_t>(operand)] == 1)
        outermost[static_cast<std::size_t>(operand)] = outermost[static_cast<std::size_t>(*id)];
  }
  return outermost;
}

}  // namespace

std::vector<ProductSum> product_sums(const step::Graph& graph, const std::vector<NodeId>& roots,
                                     const std::vector<ProductGroup>& groups) {
  const std::vector<NodeId> outermost = outermost_additions(graph, roots);
  std::map<std::pair<int, NodeId>, ProductSum> by_addition;
  for (std::size_t group = 0; group < groups.size(); ++group)
    for (std::size_t p = 0; p < groups[group].products.size(); ++p) {
      const NodeId node = groups[group].products[p].node;
      ProductSum& sum = by_addition[{groups[group].level, outermost[static_cast<std::size_t>(node)]}];
      sum.level = groups[group].level;
      sum.terms.push_back({group, static_cast<int>(p)});
    }
  std::vector<ProductSum> sums;
  for (auto& [key, sum] : by_addition) sums.push_back(std::move(sum));
  return sums;
}

std::vector<ProductSum> product_rows(const std::vector<ProductSum>& sums) {
  std::vector<ProductSum> rows;
  for (const ProductSum& sum : sums) {
    std::vector<ProductSum> parts;
    for (const ProductSum::Term& term : sum.terms) {
      const auto lacks = [&](const ProductSum& part) {
        return std::ranges::none_of(part.terms,
                                    [&](const ProductSum::Term& other) { return other.group == term.group; });
      };
      auto part = std::ranges::find_if(parts, lacks);
      if (part == parts.end()) part = parts.insert(parts.end(), {sum.level, {}});
      part->terms.push_back(term);
    }
    rows.insert(rows.end(), parts.begin(), parts.end());
  }
  std::ranges::sort(rows, {}, [](const ProductSum& row) {
    return std::tuple{row.level, row.terms.front().group, row.terms.front().product};
  });
  return rows;
}

step::Graph detach_products(step::Graph graph, NodeId end) {
  for (NodeId id = 0; id < end; ++id) {
    Node& node = graph.nodes[static_cast<std::size_t>(id)];
    if (is_whole_product(node)) detach(node);
  }
  return graph;
}

step::Graph detach_chosen(step::Graph graph) {
  for (Node& node : graph.nodes)
    if (node.kind == NodeKind::ArgMaxPlus) detach(node);
  return graph;
}

}  // namespace rondo::schedule
