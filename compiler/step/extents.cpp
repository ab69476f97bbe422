#include "compiler/step/extents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/support/index.h"

namespace rondo::step {

bool is_extent(double value) {
  return value >= 1 && value <= static_cast<double>(kMostInner) && std::floor(value) == value;
}

bool has_extents(const Cell& cell) {
  return std::ranges::any_of(cell.tensors, [](const Tensor& tensor) { return tensor.inner || tensor.outer; });
}

bool is_extent_constant(const Cell& cell, int const_index) {
  return std::ranges::any_of(cell.tensors, [&](const Tensor& tensor) {
    return (tensor.inner && tensor.inner.const_index == const_index) ||
           (tensor.outer && tensor.outer.const_index == const_index);
  });
}

Status check_extents(const Cell& cell, const std::map<std::string, double>& overrides) {
  for (std::size_t i = 0; i < cell.constants.size(); ++i) {
    const auto given = overrides.find(cell.constants[i].name);
    if (given == overrides.end() || is_extent(given->second)) continue;
    if (is_extent_constant(cell, static_cast<int>(i)))
      return Error{ErrorKind::Input,
                   fmt::format("{} of cell {} is {}, but it is the extent of a tensor", given->first,
                               cell.name, given->second),
                   fmt::format("give a whole number from 1 to {}", kMostInner)};
  }
  return success();
}

Cell with_extents(Cell cell, const std::map<std::string, double>& overrides) {
  for (Tensor& tensor : cell.tensors) {
    for (InnerExtent* extent : {&tensor.inner, &tensor.outer}) {
      if (!*extent) continue;
      const auto given = overrides.find(cell.constants.at(at(extent->const_index)).name);
      if (given != overrides.end() && is_extent(given->second)) extent->size = std::llround(given->second);
    }
  }
  return cell;
}

bool chooses_valid_steps(const Cell& cell, const Node& node) {
  if (node.kind != NodeKind::Scalar || node.op != scalar::Op::Select) return false;
  const Node& valid = cell.graph.at(node.operands[0]);
  return valid.kind == NodeKind::Leaf && cell.tensor(valid.tensor).kind == TensorKind::Length;
}

std::vector<bool> walked_extents(const Cell& cell) {
  std::vector<bool> walked(cell.constants.size(), false);
  const auto walk = [&](const InnerExtent& extent) {
    if (extent) walked.at(at(extent.const_index)) = true;
  };
  for (const Tensor& tensor : cell.tensors) {
    walk(tensor.outer);
    if (tensor.tail == Tail::Vector && tensor.kind != TensorKind::Input) walk(tensor.inner);
  }
  const std::vector<InnerExtent> inner = inner_extents(cell, cell.graph);
  for (const Node& node : cell.graph.nodes) {
    if (node.kind == NodeKind::MatTVec) walk(cell.tensor(node.tensor).inner);
    if (node.kind == NodeKind::MatVec || chooses_valid_steps(cell, node)) continue;
    for (const NodeId operand : node.operands) walk(inner[at(operand)]);
  }
  return walked;
}

bool multiplies_beside_walk(const Cell& cell, const Tensor& matrix) {
  return matrix.inner && !walked_extents(cell).at(at(matrix.inner.const_index));
}

std::vector<InnerExtent> inner_extents(const Cell& cell, const Graph& graph) {
  std::vector<InnerExtent> result;
  for (const Node& node : graph.nodes) {
    InnerExtent& own = result.emplace_back();
    if (node.kind == NodeKind::Leaf || node.kind == NodeKind::MatTVec) own = cell.tensor(node.tensor).inner;
    if (node.kind == NodeKind::MatVec) own = cell.tensor(node.tensor).outer;
    if (node.kind == NodeKind::Gradient) own = cell.tensor(node.gradient.tensor).inner;
    if (node.kind != NodeKind::Scalar) continue;
    for (const NodeId operand : node.operands)
      if (!own) own = result[at(operand)];
  }
  return result;
}

}  // namespace rondo::step
