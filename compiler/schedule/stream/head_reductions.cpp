#include "compiler/schedule/stream/head_reductions.h"

#include <algorithm>
#include <utility>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/sweep/backward_split.h"
#include "compiler/step/structure.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

class Finder {
 public:
  // `reduces`: of the nodes that are looked for.
  Finder(const step::StepGraph& step, bool (*reduces)(const Node&), HeadReductions& result)
      : graph_(step.graph), reduces_(reduces), result_(result) {}

  void run(const std::vector<NodeId>& roots) {
    const std::vector<NodeId> order = reachable(graph_, roots);
    before_.assign(graph_.nodes.size(), 0);
    for (const NodeId id : order) visit(id);
    std::ranges::stable_sort(
        result_.reductions, [](const HeadReduction& a, const HeadReduction& b) { return a.level < b.level; });
  }

 private:
  void visit(NodeId id) {
    const Node& node = graph_.at(id);
    for (const NodeId operand : node.operands)
      before_[at(id)] = std::max(before_[at(id)], before_[at(operand)]);
    if (!reduces_(node)) return;
    if (node.kind == NodeKind::ReduceSpread) return add_spread(id, node);
    result_.reductions.push_back({kind_of(node), node.operands, id, step::kNoNode, before_[at(id)], node});
    result_.levels = std::max(result_.levels, ++before_[at(id)]);
  }

  static HeadReduction::Kind kind_of(const Node& node) {
    using Kind = HeadReduction::Kind;
    switch (node.kind) {
      case NodeKind::ReduceSum: return Kind::Sum;
      case NodeKind::ReduceMax: return Kind::Max;
      case NodeKind::PrefixSum: return Kind::Prefix;
      case NodeKind::SuffixSum: return Kind::Suffix;
      case NodeKind::SumRows: return Kind::Rows;
      default: return Kind::Move;
    }
  }

  // A spread comes with its sum; vectors that are added up in two ways have the sum twice.
  void add_spread(NodeId id, const Node& node) {
    const auto sum = std::ranges::find_if(result_.reductions, [&](const HeadReduction& reduction) {
      return reduction.total == node.operands.front();
    });
    const int level = sum->level;
    HeadReduction moments{HeadReduction::Kind::Moments,
                          {node.operands.begin() + 1, node.operands.end()},
                          step::kNoNode,
                          id,
                          level};
    if (sum->kind == HeadReduction::Kind::Moments) return result_.reductions.push_back(std::move(moments));
    moments.total = sum->total;
    *sum = std::move(moments);
  }

  const step::Graph& graph_;
  bool (*reduces_)(const Node&);
  HeadReductions& result_;
  std::vector<int> before_;  // by node: levels of reductions that come before it
};

}  // namespace

bool needs_whole_head(const step::Cell& cell) {
  if (step::has_reduction(cell) || step::has_along(cell)) return true;
  return std::ranges::any_of(cell.tensors, [](const step::Tensor& tensor) {
    return tensor.tail == step::Tail::Scalar &&
           (tensor.kind == step::TensorKind::State || tensor.kind == step::TensorKind::Output);
  });
}

std::vector<std::size_t> HeadReductions::of_level(int level) const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < reductions.size(); ++i)
    if (reductions[i].level == level) result.push_back(i);
  return result;
}

namespace {

// Finds the reductions of the step, whose first roots are there, and puts what stands for them in their
// places.
void find_reductions(HeadReductions& result, bool (*reduces)(const Node&)) {
  step::StepGraph& step = result.step;
  Finder(step, reduces, result).run(step.roots);
  for (std::size_t i = 0; i < result.reductions.size(); ++i) {
    const HeadReduction& reduction = result.reductions[i];
    step.roots.insert(step.roots.end(), reduction.operands.begin(), reduction.operands.end());
    const NodeId made[] = {reduction.total, reduction.squares};
    for (int which : {0, 1}) {
      if (made[which] == step::kNoNode) continue;
      Node& node = step.graph.nodes[at(made[which])];
      node.kind = NodeKind::MatVec;
      node.operands.clear();
      node.row = HeadReductions::place(static_cast<int>(i), which);
    }
  }
}

}  // namespace

HeadReductions head_reductions(const Task& task, const step::StepGraph& original) {
  HeadReductions result;
  result.step = original;
  result.roots = original.roots.size();
  std::vector<bool> shares;
  if (task.problem.pass == Pass::Backward)
    shares = shares_of_channels(task.cell, backward_needs(task).step, Steps::OfLaunches);
  if (reduces_over_head(task.cell, original, shares))
    result.step = fewer_exchanges(task, original, shares, ExchangeOrder::Chain).step;
  find_reductions(result, step::crosses_head);
  return result;
}

// What sums over the head is left as it is: each channel has its share.
HeadReductions row_sums(const step::StepGraph& step) {
  HeadReductions result;
  result.step = step;
  result.roots = step.roots.size();
  find_reductions(result, [](const Node& node) { return node.kind == NodeKind::SumRows; });
  return result;
}

}  // namespace rondo::schedule
