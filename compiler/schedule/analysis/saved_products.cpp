#include "compiler/schedule/analysis/saved_products.h"

#include <algorithm>
#include <tuple>

#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/step/extents.h"

namespace rondo::schedule {

// With the products cut from their vectors, the backward step reaches those whose values it reads itself.
std::map<NodeId, RowRef> saved_products(const step::Cell& cell) {
  const step::BackwardStep step = backward_needs(cell).step;
  const step::Graph graph = detach_products(step.graph, step.forward_nodes);
  std::vector<NodeId> nodes;
  for (const NodeId id : reachable(graph, roots_of(step)))
    if (id < step.forward_nodes && graph.at(id).kind == NodeKind::MatVec &&
        !step::multiplies_beside_walk(cell, cell.tensor(graph.at(id).tensor)))
      nodes.push_back(id);
  const auto place = [&](NodeId id) { return std::tuple{graph.at(id).tensor, graph.at(id).row, id}; };
  std::ranges::sort(nodes, [&](NodeId a, NodeId b) { return place(a) < place(b); });
  std::map<NodeId, RowRef> result;
  std::map<TensorId, int> rows;
  for (const NodeId id : nodes) {
    const TensorId matrix = graph.at(id).tensor;
    result[id] = {{Role::Products, matrix}, rows[matrix]++};
  }
  return result;
}

std::vector<TensorId> product_tensors(const step::Cell& cell) {
  std::vector<TensorId> result;
  for (const auto& [node, where] : saved_products(cell))
    if (std::ranges::find(result, where.tensor.tensor) == result.end()) result.push_back(where.tensor.tensor);
  std::ranges::sort(result);
  return result;
}

int product_rows(const step::Cell& cell, TensorId matrix) {
  const std::map<NodeId, RowRef> products = saved_products(cell);
  return static_cast<int>(std::ranges::count_if(
      products, [&](const auto& product) { return product.second.tensor.tensor == matrix; }));
}

step::Cell with_product_outputs(step::Cell cell) {
  const step::Cell plain = cell;
  const std::map<NodeId, RowRef> products = saved_products(cell);
  for (const TensorId matrix : product_tensors(cell)) {
    const auto output = static_cast<TensorId>(cell.tensors.size());
    cell.tensors.push_back(tensor_in_role({Role::Products, matrix}, plain));
    const auto first = static_cast<std::ptrdiff_t>(cell.outputs.size());
    for (const auto& [node, where] : products)
      if (where.tensor.tensor == matrix) cell.outputs.push_back({output, where.row, node});
    std::ranges::sort(cell.outputs.begin() + first, cell.outputs.end(), {}, &step::Row::row);
  }
  return cell;
}

std::string product_output(const step::Tensor& matrix) { return matrix.name + " products"; }

step::Tensor tensor_in_role(TensorRef ref, const step::Cell& cell) {
  const step::Tensor& declared = cell.tensors.at(static_cast<std::size_t>(ref.tensor));
  if (ref.role != Role::Products) return declared;
  const int rows = product_rows(cell, ref.tensor);
  step::Tensor products{
      step::TensorKind::Output, product_output(declared), step::Tail::Vector, {rows}, rows, declared.span};
  products.inner = declared.outer;
  return products;
}

}  // namespace rondo::schedule
