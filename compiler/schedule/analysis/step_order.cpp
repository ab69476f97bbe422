#include "compiler/schedule/analysis/step_order.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/schedule/analysis/fewer_exchanges.h"
#include "compiler/schedule/analysis/history.h"

namespace rondo::schedule {

using step::Node;
using step::NodeId;
using step::NodeKind;

namespace {

// What a node's value waits for.
struct Waits {
  bool carry = false;  // for the step before
  bool step = false;   // for inputs or draws of the step
};

Waits waits_of_leaf(const step::Cell& cell, const Problem& problem, const Node& node, bool product) {
  if (product || is_carried(cell, problem, node)) return {true, true};
  if (node.kind == NodeKind::Leaf)
    return {false, cell.tensors[static_cast<std::size_t>(node.tensor)].kind != step::TensorKind::Param};
  return {false, node.kind == NodeKind::Gradient || node.kind == NodeKind::MatVec ||
                     node.kind == NodeKind::MatTVec || node.kind == NodeKind::Uniform};
}

// The stages of reductions, and by node what comes before it.
void order_exchanges(const StepGraph& step, const std::vector<ProductGroup>& groups, bool reduces,
                     StepOrder& order) {
  const std::vector<Depth> depths = exchange_depths(step.graph);
  const auto depth = [&](NodeId id) { return depths[static_cast<std::size_t>(id)]; };
  std::map<Depth, ReductionStage> stages;  // by the depth of their results
  for (const NodeId id : reachable(step.graph, step.roots))
    if (reduces && step::is_reduction(step.graph.at(id))) stages[depth(id)].nodes.push_back(id);
  for (auto& [of_result, stage] : stages) {
    stage.level = of_result.level;
    for (const ProductGroup& group : groups)
      stage.before_vectors =
          stage.before_vectors || (group.level == stage.level && depth(group.vector) >= of_result);
  }
  order.after.assign(step.graph.nodes.size(), 0);
  for (const NodeId id : reachable(step.graph, step.roots)) {
    int& after = order.after[static_cast<std::size_t>(id)] = depth(id).level;
    for (const auto& [of_result, stage] : stages) after += of_result <= depth(id) ? 1 : 0;
  }
  for (auto& [of_result, stage] : stages) order.reductions.push_back(std::move(stage));
}

}  // namespace

StepOrder step_order(const step::Cell& cell, const Problem& problem, const StepGraph& step,
                     const std::vector<ProductGroup>& groups, bool reduces) {
  const step::Graph& graph = step.graph;
  const auto at = [](NodeId id) { return static_cast<std::size_t>(id); };
  std::vector<int> level(graph.nodes.size(), -1);               // of products
  std::set<NodeId> read(step.roots.begin(), step.roots.end());  // by others than early arithmetic
  for (const ProductGroup& group : groups) {
    read.insert(group.vector);
    for (const Product& product : group.products) level[at(product.node)] = group.level;
  }
  StepOrder order;
  order_exchanges(step, groups, reduces, order);
  std::vector<Waits> waits(graph.nodes.size());
  for (const NodeId id : reachable(graph, step.roots)) {
    const Node& node = graph.at(id);
    Waits& own = waits[at(id)] =
        waits_of_leaf(cell, problem, node, level[at(id)] >= 0 || (reduces && step::is_reduction(node)));
    for (const NodeId operand : node.operands) {
      own.carry = own.carry || waits[at(operand)].carry;
      own.step = own.step || waits[at(operand)].step;
    }
    if (own.carry)
      read.insert(node.operands.begin(), node.operands.end());
    else if (own.step && node.kind == NodeKind::Scalar)
      order.early.push_back(id);
  }
  for (const NodeId id : order.early)
    if (read.count(id) != 0) order.handed.push_back(id);
  return order;
}

std::vector<int> reduction_words(const StepOrder& order) {
  std::vector<int> words;
  for (const ReductionStage& stage : order.reductions) words.push_back(static_cast<int>(stage.nodes.size()));
  return words;
}

}  // namespace rondo::schedule
