#include "compiler/schedule/rewrite/shorten_chain.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "compiler/schedule/analysis/carried.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/step/verify.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

constexpr int kLongAgo = std::numeric_limits<int>::min() / 2;  // arrival of what no carry reaches
// Cycles of a product, with the exchange of its vector: more than the rest of a step between two of them.
constexpr int kProduct = 1000;

// alpha * late + beta; kNoNode stands for alpha = 1 and beta = 0.
struct ChainForm {
  NodeId alpha = kNoNode;
  NodeId late = kNoNode;
  NodeId beta = kNoNode;
};

class ChainShortener {
 public:
  ChainShortener(const Task& task, const step::StepGraph& original) : task_(task), original_(original) {}

  step::StepGraph run() {
    value_.assign(original_.graph.nodes.size(), kNoNode);
    form_.resize(original_.graph.nodes.size());
    for (const NodeId id : reachable(original_.graph, original_.roots)) visit(id);
    step::StepGraph result;
    for (const NodeId root : original_.roots)
      result.roots.push_back(root == kNoNode ? kNoNode : value_[at(root)]);
    result.graph = std::move(out_);
    return result;
  }

 private:
  int arrival(NodeId id) const { return id == kNoNode ? kLongAgo : arrival_[at(id)]; }

  void visit(NodeId id) {
    const Node& node = original_.graph.at(id);
    const bool on_chain =
        node.kind == NodeKind::Scalar && std::ranges::any_of(node.operands, [&](NodeId operand) {
          return arrival(value_[at(operand)]) > kLongAgo;
        });
    if (on_chain && fold(id, node)) return;
    value_[at(id)] = copy(node);
    form_[at(id)] = {kNoNode, value_[at(id)], kNoNode};
  }

  // Sets the node's form and value if it is a sum, a product or a sigmoid of what is on the chain.
  bool fold(NodeId id, const Node& node) {
    const auto operand = [&](std::size_t i) { return form_[at(node.operands[i])]; };
    switch (node.op) {
      case Op::Add: return settle(id, node, sum(operand(0), operand(1)));
      case Op::Sub: return settle(id, node, sum(operand(0), scaled(operand(1), out_constant(-1))));
      case Op::Neg: return settle(id, node, scaled(operand(0), out_constant(-1)));
      case Op::Mul: return settle(id, node, product(operand(0), operand(1)));
      case Op::Fma: return settle(id, node, sum(product(operand(0), operand(1)), operand(2)));
      case Op::Sigmoid: {
        const NodeId half = out_constant(0.5);
        return settle(id, node, {half, make(Op::Tanh, {materialize(scaled(operand(0), half))}), half});
      }
      case Op::Silu: {
        const NodeId half = materialize(scaled(operand(0), out_constant(0.5)));
        return settle(id, node, {half, make(Op::Tanh, {half}), half});
      }
      default: return false;
    }
  }

  // Takes the form if its value is there no later than the plain operation's would be.
  bool settle(NodeId id, const Node& node, const ChainForm& form) {
    const NodeId folded = materialize(form);
    const NodeId plain = node.op == Op::Sigmoid || node.op == Op::Silu ? folded : copy(node);
    const bool better = arrival(folded) <= arrival(plain);
    const NodeId value = better ? folded : plain;
    if (out_.nodes[at(value)].label.empty()) out_.nodes[at(value)].label = node.label;
    value_[at(id)] = value;
    form_[at(id)] = better ? form : ChainForm{kNoNode, value, kNoNode};
    return true;
  }

  bool is_product(NodeId id) const {
    const Node& node = out_.at(id);
    return (node.kind == NodeKind::MatVec || node.kind == NodeKind::MatTVec) && !node.operands.empty();
  }
  // The vectors of a product, or of a sum of products of different ones; nothing of any other value.
  std::vector<NodeId> multiplied(NodeId id) const {
    const Node& node = out_.at(id);
    if (is_product(id)) return {node.operands[0]};
    if (node.kind != NodeKind::Scalar || node.op != Op::Add) return {};
    std::vector<NodeId> vectors = multiplied(node.operands[0]);
    const std::vector<NodeId> others = multiplied(node.operands[1]);
    if (vectors.empty() || others.empty()) return {};
    vectors.insert(vectors.end(), others.begin(), others.end());
    return vectors;
  }

  // Whether who multiplies may add both up: products of different vectors that come together.
  bool join(NodeId a, NodeId b) const {
    const std::vector<NodeId> of_a = multiplied(a), of_b = multiplied(b);
    return !of_a.empty() && !of_b.empty() && arrival(a) / kProduct == arrival(b) / kProduct &&
           std::ranges::find_first_of(of_a, of_b) == of_a.end();
  }

  // The form whose late value arrives last keeps it; the other joins alpha or beta as an ordinary value.
  // Products that join are one late value, their sum.
  ChainForm sum(ChainForm a, ChainForm b) {
    if (a.alpha == kNoNode && b.alpha == kNoNode && join(a.late, b.late))
      return {kNoNode, make(Op::Add, {a.late, b.late}), add(a.beta, b.beta)};
    if (arrival(a.late) < arrival(b.late)) std::swap(a, b);
    if (a.late == b.late)
      return {add(one_if_none(a.alpha), one_if_none(b.alpha)), a.late, add(a.beta, b.beta)};
    return {a.alpha, a.late, add(a.beta, materialize(b))};
  }

  ChainForm product(ChainForm a, ChainForm b) {
    if (arrival(a.late) < arrival(b.late)) std::swap(a, b);
    return scaled(a, materialize(b));
  }

  ChainForm scaled(const ChainForm& a, NodeId factor) {
    return {multiply(a.alpha, factor), a.late, a.beta == kNoNode ? kNoNode : multiply(a.beta, factor)};
  }

  NodeId materialize(const ChainForm& form) {
    if (form.alpha == kNoNode) return add(form.beta, form.late);
    if (form.beta == kNoNode) return multiply(form.alpha, form.late);
    return make(Op::Fma, {form.alpha, form.late, form.beta});
  }

  NodeId one_if_none(NodeId alpha) { return alpha == kNoNode ? out_constant(1) : alpha; }
  NodeId add(NodeId a, NodeId b) {
    if (a == kNoNode) return b;
    if (b == kNoNode) return a;
    // A product joins a sum as one multiply-add.
    for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
      const Node& node = out_.at(x);
      if (node.kind == NodeKind::Scalar && node.op == Op::Mul && arrival(x) >= arrival(y))
        return make(Op::Fma, {node.operands[0], node.operands[1], y});
    }
    return make(Op::Add, {a, b});
  }
  NodeId multiply(NodeId a, NodeId b) {
    if (a == kNoNode) return b;
    for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}})
      if (out_.at(x).kind == NodeKind::Constant) {
        const double c = out_.at(x).value;
        if (c == 1) return y;
        if (c == -1) return make(Op::Neg, {y});
        if (out_.at(y).kind == NodeKind::Constant) return out_constant(c * out_.at(y).value);
      }
    return make(Op::Mul, {a, b});
  }

  NodeId out_constant(double value) {
    const auto [known, inserted] = constants_.try_emplace(value, kNoNode);
    if (inserted) {
      known->second = out_.constant(value);
      arrival_.push_back(kLongAgo);
    }
    return known->second;
  }

  // One node for each operation on the same operands.
  NodeId make(Op op, std::vector<NodeId> operands) {
    const auto [known, inserted] = made_.try_emplace({op, operands}, kNoNode);
    if (!inserted) return known->second;
    int ready = kLongAgo;
    for (const NodeId operand : operands) ready = std::max(ready, arrival(operand));
    known->second = out_.scalar(op, std::move(operands));
    arrival_.push_back(ready == kLongAgo ? kLongAgo : ready + scalar::info(op).fast.latency);
    return known->second;
  }

  NodeId copy(const Node& node) {
    std::vector<NodeId> operands;
    for (const NodeId operand : node.operands) operands.push_back(value_[at(operand)]);
    if (node.kind == NodeKind::Constant) return out_constant(node.value);
    if (node.kind == NodeKind::Scalar) {
      const NodeId made = make(node.op, std::move(operands));
      if (out_.nodes[at(made)].label.empty()) out_.nodes[at(made)].label = node.label;
      return made;
    }
    Node same = node;
    same.operands = std::move(operands);
    int ready = is_carried(task_, node) ? 0 : kLongAgo;
    for (const NodeId operand : same.operands) ready = std::max(ready, arrival(operand));
    if (step::is_product(node) && !same.operands.empty()) ready = std::max(ready, 0) + kProduct;
    const NodeId id = out_.add(std::move(same));
    arrival_.push_back(ready);
    return id;
  }

  const Task& task_;
  const step::StepGraph& original_;
  step::Graph out_;
  std::vector<int> arrival_;     // by node of out_: cycles after the carries
  std::vector<NodeId> value_;    // by node of the original: the same value in out_
  std::vector<ChainForm> form_;  // likewise, as a form
  std::map<double, NodeId> constants_;
  std::map<std::pair<Op, std::vector<NodeId>>, NodeId> made_;
};

}  // namespace

step::StepGraph shorten_chain(const Task& task, const step::StepGraph& original) {
  return pipeline::watched(
      task.watcher, pipeline::Pass::ShortenChain, [&] { return ChainShortener(task, original).run(); },
      [&](const step::StepGraph& step) { return step::made(task.cell, step); });
}

}  // namespace rondo::schedule
