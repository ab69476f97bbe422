#include "compiler/schedule/hoist/input_products.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/schedule/analysis/history.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

using Product = InputProducts::Product;

auto order_of(const Product& p) { return std::tuple{p.input, p.input_row, p.matrix, p.row}; }

// The product that a node is of an input; none if it is another node.
std::optional<Product> product_of(const step::Cell& cell, const Node& node) {
  if (node.kind != NodeKind::MatVec) return std::nullopt;
  const Node& vector = cell.graph.at(node.operands[0]);
  const bool is_input = vector.kind == NodeKind::Leaf &&
                        cell.tensor(vector.tensor).kind == TensorKind::Input &&
                        cell.tensor(vector.tensor).tail == step::Tail::Vector;
  if (!is_input) return std::nullopt;
  return Product{node.tensor, vector.tensor, node.row, vector.row};
}

bool walks_one_way_to_the_end(const step::Cell& cell) {
  return cell.direction != step::Direction::Halves && cell.of_kind(TensorKind::Length).empty();
}

// Each once, in their order; nothing if the cell has others.
std::vector<Product> all_products(const step::Cell& cell) {
  std::vector<Product> found;
  for (const Node& node : cell.graph.nodes) {
    if (!step::is_product(node)) continue;
    const std::optional<Product> product = product_of(cell, node);
    if (!product) return {};
    found.push_back(*product);
  }
  std::ranges::sort(found, {}, order_of);
  const auto again = std::ranges::unique(found, {}, order_of);
  found.erase(again.begin(), again.end());
  return found;
}

// Inputs that nothing but products reads, and all rows of them.
bool are_only_multiplied(const step::Cell& cell, const std::vector<Product>& products) {
  std::set<step::TensorId> inputs;
  std::set<std::pair<step::TensorId, int>> rows;
  for (const Product& product : products) {
    inputs.insert(product.input);
    rows.insert({product.input, product.input_row});
  }
  std::size_t all = 0;
  for (const step::TensorId input : inputs) all += at(cell.tensor(input).rows);
  if (rows.size() < all) return false;
  const auto is_such = [&](NodeId id) {
    const Node& node = cell.graph.at(id);
    return node.kind == NodeKind::Leaf && inputs.contains(node.tensor);
  };
  for (const Node& node : cell.graph.nodes)
    if (!step::is_product(node) && std::ranges::any_of(node.operands, is_such)) return false;
  return std::ranges::none_of(forward_roots(cell), is_such);
}

// The cell with leaves of a new input in the place of products, without their inputs and matrices.
void walk_without(const step::Cell& cell, InputProducts& result) {
  step::Cell& walked = result.walked = cell;
  std::set<step::TensorId> gone;
  for (const Product& product : result.products) gone.insert({product.matrix, product.input});
  std::vector<step::TensorId> places(cell.tensors.size(), -1);
  walked.tensors.clear();
  for (step::TensorId id = 0; id < static_cast<step::TensorId>(places.size()); ++id) {
    if (gone.contains(id)) continue;
    places[at(id)] = static_cast<step::TensorId>(walked.tensors.size());
    walked.tensors.push_back(cell.tensor(id));
    result.tensors.push_back(id);
  }
  result.made = static_cast<step::TensorId>(walked.tensors.size());
  result.tensors.push_back(-1);
  step::Tensor made;
  made.name = "products";
  while (cell.find(made.name)) made.name += "_";
  made.rows = static_cast<int>(result.products.size());
  made.lead = {made.rows};
  walked.tensors.push_back(made);
  walked.graph = {};
  for (Node node : cell.graph.nodes) {
    if (const std::optional<Product> product = product_of(cell, node)) {
      const auto place = std::ranges::find(result.products, order_of(*product), order_of);
      node = {};
      walked.graph.leaf(result.made, static_cast<int>(place - result.products.begin()), step::Extent::Vector);
    } else if (node.tensor >= 0 && places[at(node.tensor)] < 0) {
      walked.graph.constant(0);  // nothing reads it any more
    } else {
      if (node.tensor >= 0) node.tensor = places[at(node.tensor)];
      walked.graph.add(std::move(node));
    }
  }
  for (std::vector<step::Row>* rows : {&walked.next, &walked.outputs})
    for (step::Row& row : *rows) row.tensor = places[at(row.tensor)];
}

// What one pass leaves for the other must not depend on how either is walked.
bool keeps_histories(const step::Cell& cell, const InputProducts& result) {
  std::vector<step::TensorId> kept;
  for (const step::TensorId id : stored_histories(result.walked)) kept.push_back(result.tensors[at(id)]);
  return kept == stored_histories(cell);
}

}  // namespace

std::optional<InputProducts> input_products(const Task& task) {
  const step::Cell& cell = task.cell;
  if (passes_products(task.problem) || !walks_one_way_to_the_end(cell)) return std::nullopt;
  InputProducts result;
  result.products = all_products(cell);
  if (result.products.empty() || !are_only_multiplied(cell, result.products)) return std::nullopt;
  walk_without(cell, result);
  if (!keeps_histories(cell, result)) return std::nullopt;
  return result;
}

}  // namespace rondo::schedule
