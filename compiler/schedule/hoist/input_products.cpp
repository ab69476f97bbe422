#include "compiler/schedule/hoist/input_products.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/schedule/analysis/history.h"
#include "compiler/step/extents.h"
#include "compiler/step/without.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

using Product = InputProducts::Product;

auto order_of(const Product& p) { return std::tuple{p.input, p.input_row, p.matrix, p.row}; }

// What a product multiplies, masked or not.
const Node& multiplied(const step::Cell& cell, const Node& product) {
  const Node& vector = cell.graph.at(product.operands[0]);
  return step::chooses_valid_steps(cell, vector) ? cell.graph.at(vector.operands[1]) : vector;
}

// The product that a node is of an input; none if it is another node.
std::optional<Product> product_of(const step::Cell& cell, const Node& node) {
  if (node.kind != NodeKind::MatVec) return std::nullopt;
  const Node& vector = multiplied(cell, node);
  const bool is_input = vector.kind == NodeKind::Leaf &&
                        cell.tensor(vector.tensor).kind == TensorKind::Input &&
                        cell.tensor(vector.tensor).tail == step::Tail::Vector;
  if (!is_input) return std::nullopt;
  return Product{node.tensor, vector.tensor, node.row, vector.row};
}

void make_unique(std::vector<Product>& products) {
  std::ranges::sort(products, {}, order_of);
  const auto again = std::ranges::unique(products, {}, order_of);
  products.erase(again.begin(), again.end());
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
  make_unique(found);
  return found;
}

// Those of inputs with extents of their own, which nothing else reads.
std::vector<Product> products_of_own_extents(const step::Cell& cell) {
  std::vector<Product> found;
  for (const Node& node : cell.graph.nodes)
    if (node.kind == NodeKind::MatVec && cell.tensor(node.tensor).inner)
      if (const std::optional<Product> product = product_of(cell, node)) found.push_back(*product);
  make_unique(found);
  return found;
}

bool multiplies_all_rows(const step::Cell& cell, const std::vector<Product>& products) {
  for (step::TensorId id = 0; id < static_cast<step::TensorId>(cell.tensors.size()); ++id) {
    const step::Tensor& tensor = cell.tensor(id);
    if (tensor.kind != TensorKind::Input || !tensor.inner) continue;
    for (int row = 0; row < tensor.rows; ++row)
      if (std::ranges::none_of(products,
                               [&](const Product& p) { return p.input == id && p.input_row == row; }))
        return false;
  }
  return true;
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
  std::vector<bool> such;  // by node: such an input, masked or not
  const auto is_such = [&](NodeId id) { return such[at(id)]; };
  for (const Node& node : cell.graph.nodes) {
    const bool reads = std::ranges::any_of(node.operands, is_such),
               mask = reads && step::chooses_valid_steps(cell, node);
    if (reads && !mask && !step::is_product(node)) return false;
    such.push_back(mask || (node.kind == NodeKind::Leaf && inputs.contains(node.tensor)));
  }
  return std::ranges::none_of(forward_roots(cell), is_such);
}

step::Tensor made_tensor(const step::Cell& cell, int rows) {
  step::Tensor made;
  made.name = "products";
  while (cell.find(made.name)) made.name += "_";
  made.rows = rows;
  made.lead = {rows};
  return made;
}

// The cell with leaves of a new input in the place of products, without their inputs and matrices, which
// nothing reads any more.
void walk_without(const step::Cell& cell, InputProducts& result) {
  step::Cell& walked = result.walked = cell;
  const auto made = static_cast<step::TensorId>(cell.tensors.size());
  walked.tensors.push_back(made_tensor(cell, static_cast<int>(result.products.size())));
  for (std::size_t id = 0; id < cell.graph.nodes.size(); ++id) {
    const std::optional<Product> product = product_of(cell, cell.graph.nodes[id]);
    if (!product) continue;
    const auto place = std::ranges::find(result.products, order_of(*product), order_of);
    if (place == result.products.end()) continue;
    Node leaf;
    leaf.kind = NodeKind::Leaf;
    leaf.extent = step::Extent::Vector;
    leaf.tensor = made;
    leaf.row = static_cast<int>(place - result.products.begin());
    walked.graph.nodes[id] = std::move(leaf);
  }
  std::set<step::TensorId> gone;
  for (const Product& product : result.products) gone.insert({product.matrix, product.input});
  const auto stays = [&](step::TensorId id) {
    return id == made || (!gone.contains(id) && !cell.tensor(id).inner);
  };
  for (step::TensorId id = 0; id < made; ++id)
    if (stays(id)) result.tensors.push_back(id);
  result.tensors.push_back(-1);
  result.made = step::keep_tensors(walked, stays)[at(made)];
}

// What one pass leaves for the other must not depend on how either is walked.
bool keeps_histories(const step::Cell& cell, const InputProducts& result) {
  std::vector<step::TensorId> kept;
  for (const step::TensorId id : stored_histories(result.walked)) kept.push_back(result.tensors[at(id)]);
  return kept == stored_histories(cell);
}

}  // namespace

namespace {

// The products that are made beside the walk; none: there is no such walk.
std::vector<Product> products_beside(const Task& task) {
  const step::Cell& cell = task.cell;
  const bool own_extents = step::has_extents(cell);
  std::vector<Product> all;
  if (!passes_products(task.problem) && (own_extents || walks_one_way_to_the_end(cell)))
    all = all_products(cell);
  if (!all.empty() && !are_only_multiplied(cell, all)) all.clear();
  if (!own_extents) return all;
  if (all.empty()) all = products_of_own_extents(cell);
  return multiplies_all_rows(cell, all) ? all : std::vector<Product>();
}

}  // namespace

bool InputProducts::in_walk(step::TensorId of_cell) const {
  return std::ranges::find(tensors, of_cell) != tensors.end();
}

std::optional<InputProducts> input_products(const Task& task) {
  InputProducts result;
  result.own_extents = step::has_extents(task.cell);
  result.products = products_beside(task);
  if (result.products.empty()) return std::nullopt;
  walk_without(task.cell, result);
  if (!keeps_histories(task.cell, result)) return std::nullopt;
  return result;
}

}  // namespace rondo::schedule
