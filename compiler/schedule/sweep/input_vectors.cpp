#include "compiler/schedule/sweep/input_vectors.h"

#include <algorithm>

#include "compiler/schedule/sweep/backward_split.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

const step::Node* input_of(const step::Cell& cell, const step::Graph& graph, const ProductGroup& group) {
  const step::Node& vector = graph.at(group.vector);
  const bool is_input = vector.kind == step::NodeKind::Leaf && vector.extent == step::Extent::Vector &&
                        cell.tensor(vector.tensor).kind == TensorKind::Input;
  return is_input ? &vector : nullptr;
}

std::vector<step::TensorId> only_multiplied(const step::Cell& cell, const step::StepGraph& step,
                                            const std::vector<ProductGroup>& groups,
                                            const std::vector<bool>& reads) {
  step::Graph graph = step.graph;
  std::vector<step::TensorId> multiplied;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (!reads[group]) continue;
    for (const Product& product : groups[group].products) graph.nodes[at(product.node)].operands.clear();
    multiplied.push_back(graph.at(groups[group].vector).tensor);
  }
  const std::vector<step::TensorId> others = tensors_read(cell, graph, step.roots, TensorKind::Input);
  std::erase_if(multiplied, [&](step::TensorId id) { return std::ranges::find(others, id) != others.end(); });
  std::ranges::sort(multiplied);
  multiplied.erase(std::unique(multiplied.begin(), multiplied.end()), multiplied.end());
  return multiplied;
}

}  // namespace rondo::schedule
