#include "compiler/schedule/rewrite/fewer_exchanges.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "compiler/schedule/analysis/history.h"
#include "compiler/step/verify.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using step::Extent;

namespace {

bool is(const Node& node, Op op) { return node.kind == NodeKind::Scalar && node.op == op; }

// What both rewritings of a graph share: nodes are copied, operands first, each once.
class Rebuilding {
 public:
  Rebuilding(const step::StepGraph& original, ExchangeOrder order) : original_(original), order_(order) {}
  virtual ~Rebuilding() = default;

  RewrittenStep run(const std::vector<bool>& shares) {
    value_.assign(original_.graph.nodes.size(), kNoNode);
    begin();
    for (const NodeId id : reachable(original_.graph, original_.roots)) value_[at(id)] = visit(id);
    for (const NodeId root : original_.roots)
      out_.step.roots.push_back(root == kNoNode ? kNoNode : value_[at(root)]);
    take_shares(shares);
    return std::move(out_);
  }

 protected:
  virtual void begin() {}
  virtual NodeId visit(NodeId id) = 0;
  virtual void take_shares(const std::vector<bool>&) {}

  const Node& node_at(NodeId id) const { return out_.step.graph.at(id); }
  NodeId copy(NodeId id) {
    Node node = original_.graph.at(id);
    for (NodeId& operand : node.operands) operand = value_[at(operand)];
    return put(std::move(node), id);
  }
  NodeId make(Op op, std::vector<NodeId> operands) {
    Node node;
    node.kind = NodeKind::Scalar;
    node.op = op;
    node.operands = std::move(operands);
    return shared(std::move(node));
  }
  NodeId number(double value) {
    Node node;
    node.kind = NodeKind::Constant;
    node.value = value;
    return shared(std::move(node));
  }
  NodeId head_size() { return plain(NodeKind::HeadSize, {}); }
  NodeId sum_of(NodeId vector) { return plain(NodeKind::ReduceSum, {vector}); }
  NodeId spread_of(NodeId sum, std::vector<NodeId> vectors) {
    vectors.insert(vectors.begin(), sum);
    return plain(NodeKind::ReduceSpread, std::move(vectors));
  }
  NodeId plain(NodeKind kind, std::vector<NodeId> operands) {
    Node node;
    node.kind = kind;
    node.operands = std::move(operands);
    return shared(std::move(node));
  }

  const step::StepGraph& original_;
  const ExchangeOrder order_;
  RewrittenStep out_;
  std::vector<NodeId> value_;  // by node of the original
  std::vector<Depth> depths_;  // by node of the result

 private:
  // One node for each operation on the same operands.
  NodeId shared(Node node) {
    const Key key{static_cast<int>(node.kind), static_cast<int>(node.op), node.value, node.operands};
    const auto known = known_.find(key);
    return known != known_.end() ? known->second : put(std::move(node), kNoNode);
  }
  NodeId put(Node node, NodeId origin) {
    const bool sharable = node.kind == NodeKind::Scalar || node.kind == NodeKind::Constant ||
                          node.kind == NodeKind::HeadSize || step::is_reduction(node);
    const Key key{static_cast<int>(node.kind), static_cast<int>(node.op), node.value, node.operands};
    depths_.push_back(depth_of(node, depths_, order_));
    const NodeId id = out_.step.graph.add(std::move(node));
    out_.origin.push_back(origin);
    if (sharable) known_.emplace(key, id);
    return id;
  }

  using Key = std::tuple<int, int, double, std::vector<NodeId>>;
  std::map<Key, NodeId> known_;
};

// sum(a) + sum(b) as sum(a + b), where nobody else reads the two. Scaled by one number they are one, too.
class SumsMerged final : public Rebuilding {
 public:
  using Rebuilding::Rebuilding;

 private:
  void begin() override {
    uses_.assign(original_.graph.nodes.size(), 0);
    for (const NodeId id : reachable(original_.graph, original_.roots))
      for (const NodeId operand : original_.graph.at(id).operands) ++uses_[at(operand)];
    for (const NodeId root : original_.roots)
      if (root != kNoNode) ++uses_[at(root)];
  }

  NodeId visit(NodeId id) override {
    const Node& node = original_.graph.at(id);
    if (is(node, Op::Add) && uses_[at(node.operands[0])] == 1 && uses_[at(node.operands[1])] == 1)
      if (const auto merged = merge(value_[at(node.operands[0])], value_[at(node.operands[1])]))
        return *merged;
    return copy(id);
  }

  std::optional<NodeId> merge(NodeId a, NodeId b) {
    const Node first = node_at(a), second = node_at(b);
    if (first.kind == NodeKind::ReduceSum && second.kind == NodeKind::ReduceSum)
      return sum_of(make(Op::Add, {first.operands[0], second.operands[0]}));
    for (const Op op : {Op::Div, Op::Mul}) {
      if (!is(first, op) || !is(second, op) || first.operands[1] != second.operands[1]) continue;
      if (node_at(first.operands[1]).extent != Extent::Scalar) continue;
      if (const auto merged = merge(first.operands[0], second.operands[0]))
        return make(op, {*merged, first.operands[1]});
    }
    return std::nullopt;
  }

  std::vector<int> uses_;  // by node of the original
};

// Sums whose operands wait for another reduction, as sums whose operands wait for fewer.
class LateHeadValuesApart final : public Rebuilding {
 public:
  using Rebuilding::Rebuilding;

 private:
  // More than that stay together: each may need a sum of its own.
  static constexpr std::size_t kMostTerms = 32;

  // coefficient * vector, of which a coefficient that is no node is 1. The vector may be a value that all
  // channels have.
  struct Term {
    NodeId coefficient = kNoNode;
    NodeId vector = kNoNode;
    bool negative = false;
  };

  NodeId visit(NodeId id) override {
    if (original_.graph.at(id).kind != NodeKind::ReduceSum) return copy(id);
    const NodeId vector = value_[at(original_.graph.at(id).operands[0])];
    if (const auto better = apart(vector)) return *better;
    return copy(id);
  }

  // The sum of a vector whose depth some per-head value of it makes, of which it can be freed.
  std::optional<NodeId> apart(NodeId vector) {
    if (const auto moments = by_moments(vector)) return moments;
    std::vector<Term> terms;
    expand(vector, {kNoNode, vector, false}, terms);
    if (terms.size() > kMostTerms) return std::nullopt;
    for (const Term& term : terms)
      if (depths_[at(term.vector)] >= depths_[at(vector)]) return std::nullopt;
    std::vector<std::pair<NodeId, NodeId>> by_coefficient;  // with the sum of its vectors
    for (const Term& term : terms) {
      const NodeId part = term.negative ? make(Op::Neg, {term.vector}) : term.vector;
      const auto known = std::ranges::find_if(
          by_coefficient, [&](const auto& pair) { return pair.first == term.coefficient; });
      if (known == by_coefficient.end())
        by_coefficient.emplace_back(term.coefficient, part);
      else
        known->second = make(Op::Add, {known->second, part});
    }
    NodeId total = kNoNode;
    for (const auto& [coefficient, part] : by_coefficient) {
      NodeId sum = sum_of_part(part);
      if (coefficient != kNoNode) sum = make(Op::Mul, {sum, coefficient});
      total = total == kNoNode ? sum : make(Op::Add, {total, sum});
    }
    return total;
  }

  NodeId sum_of_part(NodeId part) {
    if (node_at(part).extent == Extent::Scalar) return make(Op::Mul, {part, head_size()});
    const auto better = apart(part);
    return better ? *better : sum_of(part);
  }

  // Appends the terms of `of`, taken apart at sums, and where it is as late as `whole` also at products with
  // per-head values and at those that are not.
  void expand(NodeId whole, const Term& of, std::vector<Term>& terms) {
    if (terms.size() > kMostTerms) return;
    const Node node = node_at(of.vector);
    const auto vector = [&](std::size_t i) { return node_at(node.operands[i]).extent == Extent::Vector; };
    const auto is_late = [&](NodeId id) { return depths_[at(id)] >= depths_[at(whole)]; };
    const bool late = is_late(of.vector);
    const auto term = [&](std::size_t i) { return vector(i) || (late && !is_late(node.operands[i])); };
    const auto go_on = [&](std::size_t i, NodeId coefficient, bool negative) {
      expand(whole, {coefficient, node.operands[i], negative}, terms);
    };
    const auto times = [&](Op op, NodeId factor) {
      if (of.coefficient == kNoNode) return op == Op::Mul ? factor : make(Op::Div, {number(1), factor});
      return make(op, {of.coefficient, factor});
    };
    if ((is(node, Op::Add) || is(node, Op::Sub)) && term(0) && term(1)) {
      go_on(0, of.coefficient, of.negative);
      return go_on(1, of.coefficient, of.negative != is(node, Op::Sub));
    }
    if (is(node, Op::Neg)) return go_on(0, of.coefficient, !of.negative);
    for (const std::size_t side : {0, 1})
      if (late && is(node, Op::Mul) && !vector(side) && vector(1 - side))
        return go_on(1 - side, times(Op::Mul, node.operands[side]), of.negative);
    if (late && is(node, Op::Div) && !vector(1) && vector(0))
      return go_on(0, times(Op::Div, node.operands[1]), of.negative);
    terms.push_back(of);
  }

  // The sum of squares of distances from a late per-head value.
  std::optional<NodeId> by_moments(NodeId squares) {
    std::vector<NodeId> vectors;
    NodeId from = kNoNode;
    if (!distances(squares, vectors, from)) return std::nullopt;
    NodeId all = vectors[0];
    for (std::size_t i = 1; i < vectors.size(); ++i) all = make(Op::Add, {all, vectors[i]});
    if (depths_[at(all)] >= depths_[at(squares)]) return std::nullopt;
    const auto rows = static_cast<double>(vectors.size());
    const NodeId count = vectors.size() == 1 ? head_size() : make(Op::Mul, {head_size(), number(rows)});
    const NodeId sum = sum_of(all), spread = spread_of(sum, vectors);
    if (is_mean(from, sum, rows)) return spread;
    const NodeId off = make(Op::Sub, {make(Op::Div, {sum, count}), from});
    return make(Op::Add, {spread, make(Op::Mul, {count, make(Op::Square, {off})})});
  }

  // Is it the sum divided by `rows` times the channels of the head, but for rounding?
  bool is_mean(NodeId id, NodeId sum, double rows) const {
    const Node& node = node_at(id);
    if (is(node, Op::Div)) {
      const Node& by = node_at(node.operands[1]);
      if (by.kind == NodeKind::HeadSize) return node.operands[0] == sum && std::abs(rows - 1) < 1e-12;
      return by.kind == NodeKind::Constant && is_mean(node.operands[0], sum, rows / by.value);
    }
    if (!is(node, Op::Mul)) return false;
    for (const std::size_t side : {0, 1}) {
      const Node& by = node_at(node.operands[1 - side]);
      if (by.kind == NodeKind::Constant) return is_mean(node.operands[side], sum, rows * by.value);
    }
    return false;
  }

  bool distances(NodeId id, std::vector<NodeId>& vectors, NodeId& from) const {
    const Node& node = node_at(id);
    if (is(node, Op::Add))
      return distances(node.operands[0], vectors, from) && distances(node.operands[1], vectors, from);
    const bool square = is(node, Op::Square) || (is(node, Op::Mul) && node.operands[0] == node.operands[1]);
    if (!square) return false;
    const Node& distance = node_at(node.operands[0]);
    if (!is(distance, Op::Sub) || node_at(distance.operands[0]).extent != Extent::Vector ||
        node_at(distance.operands[1]).extent != Extent::Scalar)
      return false;
    if (from != kNoNode && from != distance.operands[1]) return false;
    from = distance.operands[1];
    vectors.push_back(distance.operands[0]);
    return true;
  }

  void take_shares(const std::vector<bool>& shares) override {
    std::vector<NodeId>& roots = out_.step.roots;
    std::vector<NodeId> others;
    for (std::size_t i = 0; i < roots.size(); ++i)
      if (i >= shares.size() || !shares[i]) others.push_back(roots[i]);
    made_anyway_.assign(out_.step.graph.nodes.size(), false);
    for (const NodeId id : reachable(out_.step.graph, others)) made_anyway_[at(id)] = true;
    for (std::size_t i = 0; i < shares.size(); ++i)
      if (shares[i] && roots[i] != kNoNode && node_at(roots[i]).extent == Extent::Scalar &&
          node_at(roots[i]).kind != NodeKind::Constant)
        roots[i] = share_of(roots[i]);
  }

  // Is it linear in a sum, so that the sum's vector may stand for it? Nothing is won by that for a value
  // that the step makes anyway.
  bool is_linear(NodeId id) const {
    const Node& node = node_at(id);
    if (node.kind == NodeKind::ReduceSum) return true;
    if (made_anyway_[at(id)]) return false;
    if (is(node, Op::Neg) || is(node, Op::Div)) return is_linear(node.operands[0]);
    if (is(node, Op::Mul)) return is_linear(node.operands[0]) || is_linear(node.operands[1]);
    if (is(node, Op::Add) || is(node, Op::Sub))
      return is_linear(node.operands[0]) || is_linear(node.operands[1]);
    if (is(node, Op::Select)) return is_linear(node.operands[1]) || is_linear(node.operands[2]);
    return false;
  }

  NodeId share_of(NodeId id) {
    const Node node = node_at(id);
    if (!is_linear(id)) return make(Op::Mul, {id, make(Op::Recip, {head_size()})});
    if (node.kind == NodeKind::ReduceSum) return node.operands[0];
    if (is(node, Op::Neg)) return make(Op::Neg, {share_of(node.operands[0])});
    if (is(node, Op::Add) || is(node, Op::Sub))
      return make(node.op, {share_of(node.operands[0]), share_of(node.operands[1])});
    if (is(node, Op::Select))
      return make(node.op, {node.operands[0], share_of(node.operands[1]), share_of(node.operands[2])});
    const std::size_t side = is_linear(node.operands[0]) ? 0 : 1;
    std::vector<NodeId> operands = node.operands;
    operands[side] = share_of(operands[side]);
    return make(node.op, std::move(operands));
  }

  std::vector<bool> made_anyway_;  // by node of the result: for roots that are no shares
};

RewrittenStep rewrite(const step::StepGraph& step, const std::vector<bool>& shares, ExchangeOrder order) {
  const RewrittenStep merged = SumsMerged(step, order).run({});
  RewrittenStep result = LateHeadValuesApart(merged.step, order).run(shares);
  for (NodeId& origin : result.origin)
    if (origin != kNoNode) origin = merged.origin[at(origin)];
  return result;
}

}  // namespace

RewrittenStep fewer_exchanges(const Task& task, const step::StepGraph& step, const std::vector<bool>& shares,
                              ExchangeOrder order) {
  return pipeline::watched(
      task.watcher, pipeline::Pass::FewerExchanges, [&] { return rewrite(step, shares, order); },
      [&](const RewrittenStep& rewritten) { return step::made(task.cell, rewritten.step); });
}

}  // namespace rondo::schedule
