#include "compiler/schedule/analysis/exchanges.h"

#include <algorithm>

#include "compiler/schedule/analysis/history.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

Depth depth_of(const Node& node, const std::vector<Depth>& depths, ExchangeOrder order) {
  Depth depth;
  for (const NodeId operand : node.operands) depth = std::max(depth, depths[at(operand)]);
  const bool product = step::is_product(node) && !node.operands.empty();
  if (product && order == ExchangeOrder::Levels) return {depth.level + 1, 0};
  const bool turn = product || (step::crosses_head(node) && node.kind != NodeKind::ReduceSpread);
  return turn ? Depth{depth.level, depth.turn + 1} : depth;
}

bool adds_over_head(const step::Cell& cell) {
  const auto is_head_value = [](const step::Tensor& tensor) {
    return tensor.tail == step::Tail::Scalar && tensor.kind != step::TensorKind::Param &&
           !step::is_flag(tensor.kind);
  };
  return std::ranges::any_of(cell.graph.nodes, step::crosses_head) ||
         std::ranges::any_of(cell.tensors, is_head_value);
}

bool reduces_over_head(const step::Cell& cell, const step::StepGraph& step, const std::vector<bool>& shares) {
  if (!adds_over_head(cell)) return false;
  const std::vector<NodeId> needed = reachable(step.graph, step.roots);
  return std::ranges::find(shares, true) != shares.end() ||
         std::ranges::any_of(needed, [&](NodeId id) { return step::crosses_head(step.graph.at(id)); });
}

std::vector<Depth> exchange_depths(const step::Graph& graph, ExchangeOrder order) {
  std::vector<Depth> depths;
  for (const Node& node : graph.nodes) depths.push_back(depth_of(node, depths, order));
  return depths;
}

}  // namespace rondo::schedule
