#include "compiler/schedule/analysis/step_order.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/schedule/analysis/carried.h"
#include "compiler/schedule/analysis/exchanges.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

// What a node's value waits for.
struct Waits {
  bool carry = false;  // for the step before
  bool step = false;   // for inputs or draws of the step
};

Waits waits_of_leaf(const Task& task, const Node& node, bool product) {
  if (product || is_carried(task, node)) return {true, true};
  if (node.kind == NodeKind::Leaf)
    return {false, task.cell.tensor(node.tensor).kind != step::TensorKind::Param};
  return {false, node.kind == NodeKind::Gradient || step::is_product(node) || step::is_of_place(node)};
}

// The stages of reductions, and by node what comes before it.
void order_exchanges(const step::StepGraph& step, const std::vector<ProductGroup>& groups, bool reduces,
                     StepOrder& order) {
  const std::vector<Depth> depths = exchange_depths(step.graph, ExchangeOrder::Levels);
  const auto depth = [&](NodeId id) { return depths[static_cast<std::size_t>(id)]; };
  std::map<Depth, ReductionStage> stages;  // by the depth of their results
  for (const NodeId id : reachable(step.graph, step.roots))
    if (reduces && step::crosses_head(step.graph.at(id))) stages[depth(id)].nodes.push_back(id);
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

// By node. Reductions of a stage share an exchange, so they wait for what any of them waits for; `late` are
// those of which another one waits for a carry.
std::vector<Waits> find_waits(const Task& task, const step::StepGraph& step,
                              const std::vector<ProductGroup>& groups, bool reduces,
                              const std::vector<bool>& late) {
  std::vector<bool> product(step.graph.nodes.size(), false);
  for (const ProductGroup& group : groups)
    for (const Product& of : group.products) product[at(of.node)] = true;
  std::vector<Waits> waits(step.graph.nodes.size());
  for (const NodeId id : reachable(step.graph, step.roots)) {
    const Node& node = step.graph.at(id);
    Waits& own = waits[at(id)] = waits_of_leaf(task, node, product[at(id)] || late[at(id)]);
    if (reduces && step::crosses_head(node)) own.step = true;
    for (const NodeId operand : node.operands) {
      own.carry = own.carry || waits[at(operand)].carry;
      own.step = own.step || waits[at(operand)].step;
    }
  }
  return waits;
}

// Leaves out of what is handed over that which a few instructions make of the rest. A step that normalises
// has many such values, and each takes a register of every channel.
class Handed {
 public:
  Handed(const step::Graph& graph, const std::vector<Waits>& waits, const std::vector<NodeId>& handed)
      : graph_(graph), waits_(waits), kept_(handed.begin(), handed.end()) {
    for (auto id = handed.rbegin(); id != handed.rend(); ++id) {
      kept_.erase(*id);
      if (instructions(*id) > kMost) kept_.insert(*id);
    }
  }
  std::vector<NodeId> kept() const { return {kept_.begin(), kept_.end()}; }

 private:
  static constexpr int kMost = 2, kTooMany = 1000;

  int instructions(NodeId id) const {
    const Node& node = graph_.at(id);
    if (kept_.count(id) != 0 || !waits_[static_cast<std::size_t>(id)].step) return 0;
    if (node.kind != NodeKind::Scalar || scalar::info(node.op).fast.special > 0) return kTooMany;
    int count = std::max(1, static_cast<int>(scalar::info(node.op).fast.alu));
    for (const NodeId operand : node.operands)
      if (count <= kMost) count += instructions(operand);
    return count;
  }

  const step::Graph& graph_;
  const std::vector<Waits>& waits_;
  std::set<NodeId> kept_;
};

}  // namespace

StepOrder step_order(const Task& task, const step::StepGraph& step, const std::vector<ProductGroup>& groups,
                     bool reduces) {
  StepOrder order;
  order_exchanges(step, groups, reduces, order);
  std::vector<bool> late(step.graph.nodes.size(), false);
  std::vector<Waits> waits = find_waits(task, step, groups, reduces, late);
  // Stages in their order: what is late in one decides the next.
  for (ReductionStage& stage : order.reductions) {
    stage.early = std::ranges::none_of(stage.nodes, [&](NodeId id) { return waits[at(id)].carry; });
    if (stage.early) continue;
    for (const NodeId id : stage.nodes) late[at(id)] = true;
    waits = find_waits(task, step, groups, reduces, late);
  }
  std::set<NodeId> read(step.roots.begin(), step.roots.end());  // by others than early arithmetic
  for (const ProductGroup& group : groups) read.insert(group.vector);
  for (const NodeId id : reachable(step.graph, step.roots)) {
    const Node& node = step.graph.at(id);
    if (waits[at(id)].carry)
      read.insert(node.operands.begin(), node.operands.end());
    else if (waits[at(id)].step && (node.kind == NodeKind::Scalar || (reduces && step::crosses_head(node))))
      order.early.push_back(id);
  }
  for (const NodeId id : order.early)
    if (read.count(id) != 0) order.handed.push_back(id);
  if (!order.reductions.empty()) order.handed = Handed(step.graph, waits, order.handed).kept();
  return order;
}

std::vector<int> reduction_words(const StepOrder& order) {
  std::vector<int> words;
  for (const ReductionStage& stage : order.reductions) words.push_back(static_cast<int>(stage.nodes.size()));
  return words;
}

}  // namespace rondo::schedule
