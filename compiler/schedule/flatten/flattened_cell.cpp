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

// What a row of the batch adds to a value of the step that all rows have, by node.
class Summands {
 public:
  explicit Summands(step::Graph& graph) : graph_(graph) {
    for (const Node& node : graph.nodes) has_sum_.push_back(is_sum(node));
  }

  // Whether the value is none of a single row, but made of sums over them.
  bool has_sum(NodeId id) const { return has_sum_[at(id)]; }

  // Of one sum, also times what all rows have, or where a form of the sequence lets it stand and 0 elsewhere.
  // None: the value is no sum of what rows add.
  std::optional<NodeId> of(NodeId id) {
    const Node node = graph_.at(id);
    if (node.kind == NodeKind::SumRows) return node.operands[0];
    if (node.kind != NodeKind::Scalar) return std::nullopt;
    if (node.op == Op::Neg) return with(node, 0);
    if (node.op == Op::Div && !has_sum(node.operands[1])) return with(node, 0);
    if (node.op == Op::Select && !has_sum(node.operands[0])) return of_choice(node);
    if (node.op != Op::Mul || has_sum(node.operands[0]) == has_sum(node.operands[1])) return std::nullopt;
    return with(node, has_sum(node.operands[0]) ? 0 : 1);
  }

 private:
  bool is_sum(const Node& node) const {
    return node.kind == NodeKind::SumRows ||
           std::ranges::any_of(node.operands, [&](NodeId operand) { return has_sum_[at(operand)]; });
  }
  bool is_zero(NodeId id) const {
    return graph_.at(id).kind == NodeKind::Constant && graph_.at(id).value == 0;
  }
  std::optional<NodeId> of_choice(const Node& node) {
    if (is_zero(node.operands[1])) return with(node, 2);
    if (is_zero(node.operands[2])) return with(node, 1);
    return std::nullopt;
  }
  std::optional<NodeId> with(Node node, std::size_t operand) {
    const std::optional<NodeId> summand = of(node.operands[operand]);
    if (!summand) return std::nullopt;
    node.operands[operand] = *summand;
    const NodeId made = graph_.add(std::move(node));
    has_sum_.push_back(false);
    return made;
  }

  step::Graph& graph_;
  std::vector<bool> has_sum_;
};

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
  Summands summands(cell.graph);
  cell.next.clear();
  cell.outputs.clear();
  for (Row& row : rows) {
    if (batch.has_own(row.tensor)) {
      if (summands.has_sum(row.value)) return false;
    } else {
      const std::optional<NodeId> summand = summands.of(row.value);
      if (!summand || summands.has_sum(*summand)) return false;
      row.value = *summand;
    }
    (cell.tensor(row.tensor).kind == step::TensorKind::State ? cell.next : cell.outputs).push_back(row);
  }
  return true;
}

}  // namespace

std::optional<FlattenedCell> flattened(const step::Cell& cell) {
  if (draws(cell) || step::has_extents(cell)) return std::nullopt;
  std::optional<BatchRows> batch = rows_of(cell);
  if (!batch) return std::nullopt;
  std::vector<Row> all = cell.next;
  all.insert(all.end(), cell.outputs.begin(), cell.outputs.end());
  RowDealer dealer(cell, batch->own, batch->count, cell.graph, RowDealer::Products::OfARow);
  const std::optional<std::vector<Row>> own = dealer.run(all);
  // Where all products are of what rows share, no row is multiplied.
  if (!own || count_products(dealer.graph(), *own) == count_products(cell.graph, all)) return std::nullopt;
  FlattenedCell result{cell, std::move(*batch)};
  result.cell.graph = dealer.graph();
  for (std::size_t id = 0; id < result.cell.tensors.size(); ++id) {
    step::Tensor& tensor = result.cell.tensors[id];
    const bool passes_on = tensor.kind == step::TensorKind::Input || tensor.kind == step::TensorKind::Output;
    tensor.summed = passes_on && !result.rows.own[id];
    if (!result.rows.own[id]) continue;
    tensor.rows /= result.rows.count;
    tensor.lead.erase(tensor.lead.begin());
  }
  if (!take_rows(result.cell, result.rows, *own)) return std::nullopt;
  return result;
}

}  // namespace rondo::schedule
