#include "compiler/schedule/analysis/sweep.h"

#include <algorithm>
#include <numeric>

#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/analysis/step_stages.h"

namespace rondo::schedule {

using step::Node;
using step::NodeId;
using step::NodeKind;
using step::Row;
using step::TensorKind;

namespace {

int carry_of(const step::Cell& cell, step::TensorId state, int row) {
  const auto found = std::find_if(cell.next.begin(), cell.next.end(),
                                  [&](const Row& next) { return next.tensor == state && next.row == row; });
  return static_cast<int>(found - cell.next.begin());
}

SweepSource carry(int index) { return {SweepSource::Kind::Carry, index, {}, {}}; }
SweepSource now(RowRef row) { return {SweepSource::Kind::Now, 0, row, {}}; }
SweepSource flag(const step::Cell& cell, step::TensorId id) {
  const bool reset = cell.tensors[static_cast<std::size_t>(id)].kind == TensorKind::Reset;
  return {SweepSource::Kind::Flag, 0, {{reset ? Role::Resets : Role::Lengths, id}, 0}, {}};
}
SweepSink into_carry(std::size_t index) { return {SweepSink::Kind::Carry, static_cast<int>(index), {}}; }
SweepSink into(RowRef row) { return {SweepSink::Kind::Now, 0, row}; }

void find_ends(const step::Cell& cell, Role first, Role last, Sweep& sweep) {
  for (const Row& next : cell.next) {
    sweep.first.push_back({{first, next.tensor}, next.row});
    sweep.last.push_back({{last, next.tensor}, next.row});
  }
}

SweepSource backward_source(const step::Cell& cell, const BackwardSplit& split, NodeId id) {
  const Node& node = split.sweep.at(id);
  if (node.kind == NodeKind::MatVec) return now(split.products.at(id));
  if (node.kind == NodeKind::Gradient) {
    const step::GradientRef& g = node.gradient;
    if (g.of == step::GradientRef::Of::NextState) return carry(carry_of(cell, g.tensor, g.row));
    return now({{Role::OutputGradient, g.tensor}, g.row});
  }
  const TensorKind kind = cell.tensors[static_cast<std::size_t>(node.tensor)].kind;
  if (step::is_flag(kind)) return flag(cell, node.tensor);
  if (kind == TensorKind::Input) return now({{Role::Input, node.tensor}, node.row});
  return {SweepSource::Kind::Before,
          0,
          split.needs.history.at({node.tensor, node.row}),
          {{Role::InitialState, node.tensor}, node.row}};
}

// The gradient of a scalar parameter as shares of the channels that add up to it, where it is linear in sums
// over the head: a step then needs no total of them. kNoNode where it is not.
NodeId channel_shares(step::Graph& graph, NodeId id) {
  const Node node = graph.at(id);  // a copy: the graph grows
  if (node.kind == NodeKind::ReduceSum) return node.operands[0];
  if (node.kind != NodeKind::Scalar) return step::kNoNode;
  std::vector<NodeId> operands = node.operands;
  const auto share = [&](std::size_t i) {
    operands[i] = channel_shares(graph, operands[i]);
    return operands[i] != step::kNoNode;
  };
  switch (node.op) {
    case scalar::Op::Add:
    case scalar::Op::Sub:
      if (!share(0) || !share(1)) return step::kNoNode;
      break;
    case scalar::Op::Neg:
      if (!share(0)) return step::kNoNode;
      break;
    case scalar::Op::Mul: {
      operands[0] = channel_shares(graph, node.operands[0]);
      if (operands[0] != step::kNoNode) break;
      operands[0] = node.operands[0];
      if (!share(1)) return step::kNoNode;
      break;
    }
    default: return step::kNoNode;
  }
  return graph.scalar(node.op, operands);
}

bool is_op(const Node& node, scalar::Op op) { return node.kind == NodeKind::Scalar && node.op == op; }

// Rewrites sums over the head of u + s v, s a number that is itself made of a sum, as the sum of u and s
// times that of v, which are known together with s: the derivative of a norm is full of such, each of which
// would take a stage of its own (step_stages.h).
class SumsApart {
 public:
  // `graph` is rewritten; the result says which node each of its nodes has become.
  static std::vector<NodeId> apply(step::Graph& graph) {
    SumsApart apart;
    for (const Node& node : graph.nodes) apart.become_.push_back(apart.rewritten(node));
    graph = std::move(apart.graph_);
    return apart.become_;
  }

 private:
  struct Part {
    NodeId factor, value;  // factor: a number or none
  };

  NodeId rewritten(Node node) {
    for (NodeId& operand : node.operands) operand = become_[static_cast<std::size_t>(operand)];
    if (node.kind == NodeKind::ReduceSum) return sum_of(node.operands[0]);
    graph_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(graph_.nodes.size()) - 1;
  }

  NodeId sum_of(NodeId vector) {
    std::vector<Part> parts;
    const bool apart = level(vector) > 0 && take_apart(vector, step::kNoNode, level(vector), parts);
    if (!apart) parts = {{step::kNoNode, vector}};
    NodeId total = step::kNoNode;
    for (const Part& part : parts) {
      NodeId term = part.value;
      if (graph_.at(term).extent == step::Extent::Vector || !apart) {
        const auto known = sums_.find(term);
        term = known != sums_.end() ? known->second : sums_[part.value] = graph_.reduce_sum(term);
      } else {
        term = graph_.scalar(scalar::Op::Mul, {term, graph_.head_size()});
      }
      if (part.factor != step::kNoNode) term = graph_.scalar(scalar::Op::Mul, {term, part.factor});
      total = total == step::kNoNode ? term : graph_.scalar(scalar::Op::Add, {total, term});
    }
    return total;
  }

  // Parts of a vector that are all known before `before`; false if there are none.
  bool take_apart(NodeId id, NodeId factor, int before, std::vector<Part>& parts) {
    constexpr std::size_t kMostParts = 8;
    if (parts.size() == kMostParts) return false;
    const Node node = graph_.at(id);  // a copy: the graph grows
    if (level(id) < before) {
      parts.push_back({factor, id});
      return true;
    }
    // v - mean(v) stays as it is: the difference of the sums of both would cancel.
    if (node.extent == step::Extent::Scalar) return false;
    const auto times = [&](scalar::Op op, NodeId by) {
      if (factor == step::kNoNode && op == scalar::Op::Mul) return by;
      return graph_.scalar(op, {factor == step::kNoNode ? graph_.constant(1) : factor, by});
    };
    if (is_op(node, scalar::Op::Add) || is_op(node, scalar::Op::Sub)) {
      const NodeId second =
          is_op(node, scalar::Op::Add) ? factor : times(scalar::Op::Mul, graph_.constant(-1));
      return take_apart(node.operands[0], factor, before, parts) &&
             take_apart(node.operands[1], second, before, parts);
    }
    if (is_op(node, scalar::Op::Neg))
      return take_apart(node.operands[0], times(scalar::Op::Mul, graph_.constant(-1)), before, parts);
    const bool product = is_op(node, scalar::Op::Mul), quotient = is_op(node, scalar::Op::Div);
    for (const std::size_t side : {0, 1}) {
      if (!product && !(quotient && side == 1)) continue;
      const NodeId by = node.operands[side];
      if (graph_.at(by).extent != step::Extent::Scalar) continue;
      return take_apart(node.operands[1 - side], times(node.op, by), before, parts);
    }
    return false;
  }

  // Products and reductions on the longest chain to a node.
  int level(NodeId id) {
    for (auto next = static_cast<NodeId>(levels_.size()); next <= id; ++next) {
      const Node& node = graph_.at(next);
      int own = 0;
      for (const NodeId operand : node.operands)
        own = std::max(own, levels_[static_cast<std::size_t>(operand)]);
      const bool meets = node.kind != NodeKind::Scalar && node.kind != NodeKind::Uniform;
      levels_.push_back(own + (meets && !node.operands.empty() ? 1 : 0));
    }
    return levels_[static_cast<std::size_t>(id)];
  }

  step::Graph graph_;
  std::vector<NodeId> become_;
  std::map<NodeId, NodeId> sums_;  // by vector
  std::vector<int> levels_;
};

bool is_param(const step::Cell& cell, const Node& node) {
  return node.kind == NodeKind::Leaf &&
         cell.tensors[static_cast<std::size_t>(node.tensor)].kind == TensorKind::Param;
}

// A product without an operand stands for a value that is read.
bool is_read(const Node& node) {
  return node.kind == NodeKind::Leaf || node.kind == NodeKind::Gradient ||
         (node.kind == NodeKind::MatVec && node.operands.empty());
}

}  // namespace

Sweep forward_sweep(const step::Cell& cell, const Problem& problem) {
  Sweep sweep;
  sweep.step = {cell.graph, forward_roots(cell, problem)};
  for (const NodeId id : reachable(cell.graph, sweep.step.roots)) {
    const Node& node = cell.graph.at(id);
    if (!is_read(node) || is_param(cell, node)) continue;
    const TensorKind kind = cell.tensors[static_cast<std::size_t>(node.tensor)].kind;
    sweep.sources[id] = step::is_flag(kind)         ? flag(cell, node.tensor)
                        : kind == TensorKind::State ? carry(carry_of(cell, node.tensor, node.row))
                                                    : now({{Role::Input, node.tensor}, node.row});
  }
  std::vector<step::TensorId> stored;
  if (problem.pass == Pass::ForwardSave) stored = stored_histories(cell);
  for (std::size_t k = 0; k < cell.next.size(); ++k) {
    const Row& next = cell.next[k];
    sweep.sinks.push_back({into_carry(k)});
    if (std::find(stored.begin(), stored.end(), next.tensor) != stored.end())
      sweep.sinks.back().push_back(into({{Role::History, next.tensor}, next.row}));
  }
  for (const Row& output : cell.outputs)
    sweep.sinks.push_back({into({{Role::Output, output.tensor}, output.row})});
  if (problem.pass == Pass::ForwardSave && passes_products(problem))
    for (const auto& [node, where] : saved_products(cell)) sweep.sinks.push_back({into(where)});
  find_ends(cell, Role::InitialState, Role::LastState, sweep);
  return sweep;
}

Sweep backward_sweep(const step::Cell& cell, const BackwardSplit& split) {
  const step::BackwardStep& step = split.needs.step;
  Sweep sweep;
  sweep.order = TimeOrder::Backward;
  sweep.step = {split.sweep, split.sweep_roots};
  sweep.scratch_rows = scratch_rows(split);
  sweep.sum_rows = param_rows(cell);
  const std::size_t first_param = step.previous_states.size() + step.inputs.size();
  std::vector<bool> once(step.params.size(), false);
  for (std::size_t i = 0; i < step.params.size() && adds_over_head(cell); ++i) {
    if (cell.tensors[static_cast<std::size_t>(step.params[i].tensor)].tail != step::Tail::Scalar) continue;
    NodeId& root = sweep.step.roots[first_param + i];
    const NodeId shares = channel_shares(sweep.step.graph, root);
    once[i] = shares == step::kNoNode;
    if (!once[i]) root = shares;
  }
  std::vector<NodeId> become(split.sweep.nodes.size());
  std::iota(become.begin(), become.end(), 0);
  if (adds_over_head(cell)) become = SumsApart::apply(sweep.step.graph);
  for (NodeId& root : sweep.step.roots) root = become[static_cast<std::size_t>(root)];
  const std::vector<NodeId> needed = reachable(sweep.step.graph, sweep.step.roots);
  for (NodeId id = 0; id < static_cast<NodeId>(split.sweep.nodes.size()); ++id)
    if (is_read(split.sweep.at(id)) && !is_param(cell, split.sweep.at(id)) &&
        std::binary_search(needed.begin(), needed.end(), become[static_cast<std::size_t>(id)]))
      sweep.sources[become[static_cast<std::size_t>(id)]] = backward_source(cell, split, id);
  for (const Row& row : step.previous_states)
    sweep.sinks.push_back({into_carry(static_cast<std::size_t>(carry_of(cell, row.tensor, row.row)))});
  for (const Row& row : step.inputs)
    sweep.sinks.push_back({into({{Role::InputGradient, row.tensor}, row.row})});
  for (std::size_t i = 0; i < step.params.size(); ++i) {
    const Row& row = step.params[i];
    sweep.sinks.push_back({{SweepSink::Kind::Sum, first_param_row(cell, row.tensor) + row.row, {}, once[i]}});
  }
  for (std::size_t left = 0; left < split.lefts.size(); ++left)
    sweep.sinks.push_back({into({{Role::Scratch, kLefts}, static_cast<int>(left)})});
  find_ends(cell, Role::LastStateGradient, Role::InitialStateGradient, sweep);
  return sweep;
}

}  // namespace rondo::schedule
