#include "compiler/step/without.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/step/ranges.h"
#include "compiler/step/simplify.h"
#include "compiler/support/index.h"

namespace rondo::step {

using scalar::Op;

namespace {

bool is_row_of(const Node& node, TensorId tensor) {
  return node.kind == NodeKind::Leaf && node.tensor == tensor;
}

// Whether operand `place` of the node is a term of a sum.
bool is_term(const Node& node, std::size_t place) {
  if (node.kind != NodeKind::Scalar) return false;
  return node.op == Op::Add || node.op == Op::Sub || (node.op == Op::Fma && place == 2);
}

bool is_only_added(const Cell& cell, TensorId tensor) {
  for (const Node& node : cell.graph.nodes)
    for (std::size_t place = 0; place < node.operands.size(); ++place)
      if (is_row_of(cell.graph.at(node.operands[place]), tensor) && !is_term(node, place)) return false;
  const auto is_row = [&](const Row& row) { return is_row_of(cell.graph.at(row.value), tensor); };
  return std::none_of(cell.next.begin(), cell.next.end(), is_row) &&
         std::none_of(cell.outputs.begin(), cell.outputs.end(), is_row);
}

Result<TensorId> find_bias(const Cell& cell, const std::string& name) {
  std::vector<std::string> biases;
  for (const TensorId tensor : cell.of_kind(TensorKind::Param))
    if (cell.tensors[at(tensor)].tail != Tail::Matrix && is_only_added(cell, tensor))
      biases.push_back(cell.tensors[at(tensor)].name);
  const std::string hint = biases.empty() ? std::string("it has no parameter that is only added")
                                          : fmt::format("it may be without: {}", fmt::join(biases, ", "));
  const std::optional<TensorId> found = cell.find(name);
  if (!found || cell.tensors[at(*found)].kind != TensorKind::Param)
    return Error{ErrorKind::Input, fmt::format("cell {} has no parameter '{}'", cell.name, name), hint};
  if (std::find(biases.begin(), biases.end(), name) == biases.end())
    return Error{
        ErrorKind::Input,
        fmt::format("cell {} cannot be without '{}': that is no bias, which is only added", cell.name, name),
        hint};
  const std::optional<Interval> range = range_of(cell, cell.tensors[at(*found)]);
  if (range && !range->contains(0))
    return Error{ErrorKind::Input,
                 fmt::format("cell {} cannot be without '{}': zero is outside of its range", cell.name, name),
                 hint};
  return *found;
}

}  // namespace

std::vector<TensorId> keep_tensors(Cell& cell, const std::function<bool(TensorId)>& keeps) {
  std::vector<Tensor> tensors = std::exchange(cell.tensors, {});
  std::vector<TensorId> places(tensors.size(), -1);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!keeps(static_cast<TensorId>(i))) continue;
    places[i] = static_cast<TensorId>(cell.tensors.size());
    cell.tensors.push_back(std::move(tensors[i]));
  }
  for (Node& node : std::exchange(cell.graph, {}).nodes)
    if (node.tensor >= 0 && places[at(node.tensor)] < 0) {
      cell.graph.constant(0);
    } else {
      if (node.tensor >= 0) node.tensor = places[at(node.tensor)];
      cell.graph.add(std::move(node));
    }
  for (std::vector<Row>* rows : {&cell.next, &cell.outputs}) {
    std::erase_if(*rows, [&](const Row& row) { return places[at(row.tensor)] < 0; });
    for (Row& row : *rows) row.tensor = places[at(row.tensor)];
  }
  return places;
}

Result<Cell> without_parameters(const Cell& cell, const std::vector<std::string>& names) {
  if (names.empty()) return cell;
  std::set<TensorId> biases;
  for (const std::string& name : names) {
    const Result<TensorId> bias = find_bias(cell, name);
    if (!bias) return bias.error();
    if (!biases.insert(*bias).second)
      return Error{ErrorKind::Input, fmt::format("'{}' is left out twice", name), "name each parameter once"};
  }
  Cell result = cell;
  keep_tensors(result, [&](TensorId id) { return !biases.contains(id); });
  return simplify(result);
}

}  // namespace rondo::step
