#include "compiler/schedule/flatten/flattened_cell.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/rewrite/deal_rows.h"
#include "compiler/schedule/rewrite/row_dealer.h"
#include "compiler/step/extents.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

using scalar::Op;
using step::Node;
using step::NodeId;
using step::NodeKind;
using step::Row;

// For outputs that are sums over rows: what one row of the batch contributes, by node.
class Summands {
 public:
  Summands(step::Graph& graph, int rows) : graph_(graph), rows_(rows) {
    for (const Node& node : graph.nodes) has_sum_.push_back(contains_sum(node));
  }

  // Whether the value contains a sum over rows.
  bool has_sum(NodeId id) const { return has_sum_[at(id)]; }

  // Takes sums of sums and of what all rows share, which each row gives a part of; and one sum, negated,
  // multiplied or divided by what all rows share, or chosen against 0. None: the value is another function of
  // sums.
  std::optional<NodeId> of(NodeId id) {
    const Node node = graph_.at(id);
    if (node.kind == NodeKind::SumRows) return node.operands[0];
    if (node.kind != NodeKind::Scalar) return std::nullopt;
    switch (node.op) {
      case Op::Neg: return with(node, {0});
      case Op::Add:
      case Op::Sub: return with(node, {0, 1});
      case Op::Mul:
        if (has_sum(node.operands[0]) && has_sum(node.operands[1])) return std::nullopt;
        return with(node, {has_sum(node.operands[0]) ? std::size_t{0} : 1});
      case Op::Div: return has_sum(node.operands[1]) ? std::nullopt : with(node, {0});
      case Op::Select: return has_sum(node.operands[0]) ? std::nullopt : of_choice(node);
      default: return std::nullopt;
    }
  }

 private:
  bool contains_sum(const Node& node) const {
    return node.kind == NodeKind::SumRows ||
           std::ranges::any_of(node.operands, [&](NodeId operand) { return has_sum_[at(operand)]; });
  }
  bool is_zero(NodeId id) const {
    return graph_.at(id).kind == NodeKind::Constant && graph_.at(id).value == 0;
  }
  std::optional<NodeId> of_choice(const Node& node) {
    if (is_zero(node.operands[1])) return with(node, {2});
    if (is_zero(node.operands[2])) return with(node, {1});
    return std::nullopt;
  }
  // The node with a row's contribution in the place of these operands.
  std::optional<NodeId> with(Node node, std::initializer_list<std::size_t> operands) {
    for (const std::size_t operand : operands) {
      NodeId& own = node.operands[operand];
      const std::optional<NodeId> part = has_sum(own) ? of(own) : part_of_shared(own);
      if (!part) return std::nullopt;
      own = *part;
    }
    return add(std::move(node));
  }
  NodeId part_of_shared(NodeId id) {
    Node part;
    part.kind = NodeKind::Constant;
    part.value = 1.0 / rows_;
    Node product;
    product.kind = NodeKind::Scalar;
    product.op = Op::Mul;
    product.operands = {id, add(std::move(part))};
    return add(std::move(product));
  }
  NodeId add(Node node) {
    const NodeId made = graph_.add(std::move(node));
    has_sum_.push_back(false);
    return made;
  }

  step::Graph& graph_;
  const int rows_;
  std::vector<bool> has_sum_;
};

constexpr std::size_t kMostAlike = 4;  // inputs of which each choice is tried: 16 choices

bool draws(const step::Cell& cell) {
  return std::ranges::any_of(cell.graph.nodes,
                             [](const Node& node) { return node.kind == NodeKind::Uniform; });
}

std::size_t count_products(const step::Graph& graph, const std::vector<Row>& rows) {
  std::vector<NodeId> roots;
  for (const Row& row : rows) roots.push_back(row.value);
  const std::vector<NodeId> nodes = reachable(graph, roots);
  return static_cast<std::size_t>(
      std::ranges::count_if(nodes, [&](NodeId id) { return step::is_product(graph.at(id)); }));
}

// By tensor, whether each row of the batch has a row of it; none where some state has no such rows, or a
// parameter has them: no kernel has parameters by rows of the batch.
std::optional<BatchRows> rows_of(const step::Cell& cell) {
  BatchRows rows{outer_rows(cell), {}};
  if (rows.count < kLeastRowsFlattened) return std::nullopt;
  for (const step::Tensor& tensor : cell.tensors) {
    const bool own =
        tensor.tail != step::Tail::Matrix && !tensor.lead.empty() && tensor.lead[0] == rows.count;
    if (tensor.kind == step::TensorKind::State && !own) return std::nullopt;
    if (tensor.kind == step::TensorKind::Param && own) return std::nullopt;
    rows.own.push_back(own);
  }
  return rows;
}

// The rows in the place of the cell's, which are next states and outputs. Sums over rows stand in outputs
// alone.
bool take_rows(step::Cell& cell, const BatchRows& batch, std::vector<Row> rows) {
  Summands summands(cell.graph, batch.count);
  cell.next.clear();
  cell.outputs.clear();
  for (Row& row : rows) {
    if (batch.has_own(row.tensor)) {
      if (summands.has_sum(row.value)) return false;
    } else {
      if (!summands.has_sum(row.value)) return false;
      const std::optional<NodeId> summand = summands.of(row.value);
      if (!summand) return false;
      row.value = *summand;
    }
    (cell.tensor(row.tensor).kind == step::TensorKind::State ? cell.next : cell.outputs).push_back(row);
  }
  return true;
}

std::optional<FlattenedCell> flattened_by(const step::Cell& cell, const BatchRows& batch) {
  std::vector<Row> all = cell.next;
  all.insert(all.end(), cell.outputs.begin(), cell.outputs.end());
  RowDealer dealer(cell, batch.own, batch.count, cell.graph, RowDealer::Products::OfARow);
  const std::optional<std::vector<Row>> own = dealer.run(all);
  // Where all products are of what rows share, no row is multiplied.
  if (!own || count_products(dealer.graph(), *own) == count_products(cell.graph, all)) return std::nullopt;
  FlattenedCell result{cell, batch};
  result.cell.graph = dealer.graph();
  for (std::size_t id = 0; id < result.cell.tensors.size(); ++id) {
    step::Tensor& tensor = result.cell.tensors[id];
    const bool passed = tensor.kind == step::TensorKind::Input || tensor.kind == step::TensorKind::Output;
    tensor.summed = passed && !batch.own[id];
    if (!batch.own[id]) continue;
    tensor.rows /= batch.count;
    tensor.lead.erase(tensor.lead.begin());
  }
  if (!take_rows(result.cell, batch, *own)) return std::nullopt;
  return result;
}

}  // namespace

std::optional<FlattenedCell> flattened(const step::Cell& cell) {
  if (draws(cell) || step::has_extents(cell)) return std::nullopt;
  const std::optional<BatchRows> batch = rows_of(cell);
  if (!batch) return std::nullopt;
  // An input may have as many rows as the states by chance: eight gates that all rows share.
  std::vector<step::TensorId> alike;
  for (const step::TensorId input : cell.of_kind(step::TensorKind::Input))
    if (batch->has_own(input) && alike.size() < kMostAlike) alike.push_back(input);
  for (unsigned shared = 0; shared < 1u << alike.size(); ++shared) {
    BatchRows tried = *batch;
    for (std::size_t i = 0; i < alike.size(); ++i)
      if ((shared >> i) % 2 == 1) tried.own[at(alike[i])] = false;
    if (auto flat = flattened_by(cell, tried)) return flat;
  }
  return std::nullopt;
}

}  // namespace rondo::schedule
