#include "compiler/step/folded.h"

#include <array>
#include <cmath>
#include <span>

#include "compiler/support/index.h"

namespace rondo::step {

namespace {

using Numbers = std::vector<std::optional<double>>;

std::optional<double> folded_scalar(const Node& node, const Numbers& known) {
  std::array<double, 3> values{};
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const std::optional<double>& operand = known[at(node.operands[i])];
    if (!operand) return std::nullopt;
    values[i] = *operand;
  }
  const double value =
      scalar::evaluate(node.op, std::span<const double>(values.data(), node.operands.size()));
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

Numbers folded_numbers(const Graph& graph, const std::vector<double>& constants, double head_size) {
  Numbers known(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.kind == NodeKind::Constant) known[i] = node.value;
    if (node.kind == NodeKind::NamedConst) known[i] = constants[at(node.const_index)];
    if (node.kind == NodeKind::HeadSize) known[i] = head_size;
    if (node.kind == NodeKind::Scalar) known[i] = folded_scalar(node, known);
  }
  return known;
}

}  // namespace rondo::step
