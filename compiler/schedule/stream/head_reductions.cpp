#include "compiler/schedule/stream/head_reductions.h"

#include <algorithm>
#include <map>

#include "compiler/schedule/analysis/history.h"
#include "compiler/step/structure.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using scalar::Op;
using step::Node;
using step::NodeId;
using step::NodeKind;

namespace {

bool reduces(const Node& node) {
  return node.kind == NodeKind::ReduceSum || node.kind == NodeKind::ReduceMax;
}

// Writes a number as the sum over the head of what its channels give. The number must be linear in sums over
// the head: each channel then computes the same with its own part of them.
class Shares {
 public:
  explicit Shares(step::Graph& graph) : graph_(graph) {}

  std::optional<NodeId> of(NodeId id) {
    const auto known = known_.find(id);
    if (known != known_.end()) return known->second;
    const std::optional<NodeId> result = make(graph_.at(id));
    return known_[id] = result;
  }

 private:
  std::optional<NodeId> make(const Node node) {  // a copy: the graph grows
    if (node.kind == NodeKind::ReduceSum) return node.operands[0];
    if (node.kind == NodeKind::Constant && node.value == 0) return graph_.constant(0);
    if (node.kind != NodeKind::Scalar) return std::nullopt;
    const auto& x = node.operands;
    switch (node.op) {
      case Op::Neg:
      case Op::Add:
      case Op::Sub: return linear(node, std::vector<bool>(x.size(), true));
      case Op::Div: return linear(node, {true, false});
      case Op::Mul: {
        const auto first = linear(node, {true, false});
        return first ? first : linear(node, {false, true});
      }
      case Op::Select: return linear(node, {false, true, true});
      default: return std::nullopt;
    }
  }

  // The same of the shares of some operands.
  std::optional<NodeId> linear(const Node& node, const std::vector<bool>& shared) {
    std::vector<NodeId> operands = node.operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!shared[i]) continue;
      const std::optional<NodeId> share = of(operands[i]);
      if (!share) return std::nullopt;
      operands[i] = *share;
    }
    return graph_.scalar(node.op, operands);
  }

  step::Graph& graph_;
  std::map<NodeId, std::optional<NodeId>> known_;
};

class Finder {
 public:
  Finder(const StepGraph& step, HeadReductions& result) : graph_(step.graph), result_(result) {}

  void run(const std::vector<NodeId>& roots) {
    const std::vector<NodeId> order = reachable(graph_, roots);
    before_.assign(graph_.nodes.size(), 0);
    for (const NodeId id : order) visit(id);
    std::stable_sort(result_.reductions.begin(), result_.reductions.end(),
                     [](const HeadReduction& a, const HeadReduction& b) { return a.level < b.level; });
  }

 private:
  void visit(NodeId id) {
    const Node& node = graph_.at(id);
    for (const NodeId operand : node.operands)
      before_[at(id)] = std::max(before_[at(id)], before_[at(operand)]);
    if (!reduces(node)) return;
    const bool sum = node.kind == NodeKind::ReduceSum;
    if (HeadReduction* of_mean = sum ? whose_distances(node.operands[0]) : nullptr) {
      of_mean->kind = HeadReduction::Kind::Moments;
      of_mean->squares = id;
      before_[at(id)] = of_mean->level + 1;
      return;
    }
    const auto kind = sum ? HeadReduction::Kind::Sum : HeadReduction::Kind::Max;
    result_.reductions.push_back({kind, node.operands[0], id, step::kNoNode, before_[at(id)]});
    result_.levels = std::max(result_.levels, ++before_[at(id)]);
  }

  bool is(NodeId id, Op op) const { return graph_.at(id).kind == NodeKind::Scalar && graph_.at(id).op == op; }

  // The sum of v, if the node is the square of v - sum(v) / D.
  HeadReduction* whose_distances(NodeId square) {
    const std::vector<NodeId>& of_square = graph_.at(square).operands;
    if (!is(square, Op::Square) && !(is(square, Op::Mul) && of_square[0] == of_square[1])) return nullptr;
    const NodeId distance = of_square[0];
    if (!is(distance, Op::Sub)) return nullptr;
    const NodeId value = graph_.at(distance).operands[0], mean = graph_.at(distance).operands[1];
    if (!is(mean, Op::Div) || graph_.at(graph_.at(mean).operands[1]).kind != NodeKind::HeadSize)
      return nullptr;
    const NodeId total = graph_.at(mean).operands[0];
    for (HeadReduction& reduction : result_.reductions)
      if (reduction.total == total && reduction.operand == value &&
          reduction.kind == HeadReduction::Kind::Sum)
        return &reduction;
    return nullptr;
  }

  const step::Graph& graph_;
  HeadReductions& result_;
  std::vector<int> before_;  // by node: levels of reductions that come before it
};

}  // namespace

bool needs_whole_head(const step::Cell& cell) {
  if (step::analyze(cell).has_reduction) return true;
  return std::any_of(cell.tensors.begin(), cell.tensors.end(), [](const step::Tensor& tensor) {
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

HeadReductions head_reductions(const step::Cell& cell, const Problem& problem, const StepGraph& original) {
  std::vector<bool> numbers;  // by row of parameters: whether it has one number a head
  if (problem.pass == Pass::Backward)
    for (const step::TensorId id : cell.of_kind(step::TensorKind::Param))
      numbers.insert(numbers.end(), at(cell.tensors[at(id)].rows),
                     cell.tensors[at(id)].tail == step::Tail::Scalar);
  const std::size_t summed = original.roots.size() - numbers.size();
  HeadReductions result;
  result.step = original;
  StepGraph& step = result.step;
  result.roots = step.roots.size();
  result.shares.assign(step.roots.size(), false);
  Shares shares(step.graph);
  for (std::size_t root = summed; root < step.roots.size(); ++root) {
    if (!numbers[root - summed]) continue;
    if (const std::optional<NodeId> share = shares.of(step.roots[root])) {
      step.roots[root] = *share;
      result.shares[root] = true;
    }
  }
  // Nodes that shares are made of come last, and read nothing that comes after them.
  Finder(step, result).run(step.roots);
  for (std::size_t i = 0; i < result.reductions.size(); ++i) {
    step.roots.push_back(result.reductions[i].operand);
    const NodeId made[] = {result.reductions[i].total, result.reductions[i].squares};
    for (int which : {0, 1}) {
      if (made[which] == step::kNoNode) continue;
      Node& node = step.graph.nodes[at(made[which])];
      node.kind = NodeKind::MatVec;
      node.operands.clear();
      node.row = HeadReductions::place(static_cast<int>(i), which);
    }
  }
  return result;
}

}  // namespace rondo::schedule
