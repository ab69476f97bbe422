#include "compiler/step/derive.h"

#include <stdexcept>

#include "compiler/step/chain_rule.h"
#include "compiler/step/clip.h"
#include "compiler/step/declared.h"
#include "compiler/step/derivative_table.h"
#include "compiler/step/forward_mode.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/support/index.h"

namespace rondo::step {

namespace {

using scalar::Op;

Extent extent_of(const Tensor& tensor) {
  return tensor.tail == Tail::Scalar ? Extent::Scalar : Extent::Vector;
}

// Reverse mode over the nodes of the forward graph, from the last to the first (Griewank & Walther,
// "Evaluating derivatives", chapter 3). adjoint_[n] is the node of dLoss / d n, per channel if n is a Vector.
class ReverseSweep {
 public:
  explicit ReverseSweep(const Cell& cell) : cell_(cell) {
    step_.graph = cell.graph;
    step_.forward_nodes = static_cast<NodeId>(cell.graph.nodes.size());
    adjoint_.assign(cell.graph.nodes.size(), kNoNode);
    if (const std::optional<TensorId> length = cell.first_of_kind(TensorKind::Length))
      valid_ = step_.graph.leaf(*length, 0, Extent::Scalar);
    find_active();
  }

  BackwardStep run() {
    seed(cell_.outputs, GradientRef::Of::Output);
    seed(cell_.next, GradientRef::Of::NextState);
    for (NodeId id = step_.forward_nodes; id-- > 0;)
      if (adjoint_[at(id)] != kNoNode) propagate(id);
    step_.previous_states = collect(TensorKind::State);
    if (cell_.clip.gradient) clip_recurrence(*cell_.clip.gradient);
    for (Row& row : step_.previous_states) row.value = passed_through(row);
    step_.inputs = collect(TensorKind::Input);
    step_.params = collect(TensorKind::Param);
    for (std::vector<Row>* rows : {&step_.inputs, &step_.params})
      for (Row& row : *rows) row.value = only_valid(row.value);
    simplify_step();
    return std::move(step_);
  }

 private:
  // Active: some gradient that is asked for passes through the node.
  void find_active() {
    for (const Node& node : cell_.graph.nodes) {
      bool active =
          reads_matrix(node) || (node.kind == NodeKind::Leaf && !is_flag(cell_.tensor(node.tensor).kind));
      // A draw has no derivative by its seed.
      if (node.kind != NodeKind::Uniform)
        for (const NodeId operand : node.operands) active = active || active_[at(operand)];
      active_.push_back(active);
    }
  }

  void seed(const std::vector<Row>& rows, GradientRef::Of of) {
    for (const Row& row : rows) {
      const Extent extent = extent_of(cell_.tensor(row.tensor));
      if (!active_[at(row.value)]) continue;
      send(row.value, step_.graph.gradient({of, row.tensor, row.row}, extent), extent);
    }
  }

  // Adds `term`, one number for each element of an `extent`, to the adjoint of `target`. Where a Scalar was
  // broadcast, its gradient is the sum over the channels.
  void send(NodeId target, NodeId term, Extent extent) {
    if (term == kNoNode || !active_[at(target)]) return;
    Graph& graph = step_.graph;
    if (extent == Extent::Vector && graph.at(target).extent == Extent::Scalar) term = graph.reduce_sum(term);
    accumulate(graph, adjoint_[at(target)], term);
  }

  void propagate(NodeId id) {
    Graph& graph = step_.graph;
    const Node node = graph.at(id);  // a copy: the graph grows
    const NodeId adjoint = adjoint_[at(id)];
    switch (node.kind) {
      case NodeKind::Scalar:
        if (is_masked(node)) return send(node.operands[1], adjoint, node.extent);
        for (std::size_t i = 0; i < node.operands.size(); ++i) {
          if (!active_[at(node.operands[i])]) continue;
          send(node.operands[i], chain(graph, partial(graph, id, static_cast<int>(i)), adjoint), node.extent);
        }
        return;
      case NodeKind::MatVec: {
        const NodeId left = only_valid(adjoint);
        step_.matrices.push_back({node.tensor, node.row, left, node.operands[0]});
        if (active_[at(node.operands[0])])
          send(node.operands[0], graph.mat_t_vec(node.tensor, node.row, left), Extent::Vector);
        return;
      }
      case NodeKind::MatTVec: {
        const NodeId right = only_valid(adjoint);
        step_.matrices.push_back({node.tensor, node.row, node.operands[0], right});
        if (active_[at(node.operands[0])])
          send(node.operands[0], graph.matvec(node.tensor, node.row, right), Extent::Vector);
        return;
      }
      case NodeKind::MaxPlus: {
        const NodeId left = only_valid(adjoint);
        const NodeId chosen = graph.arg_max_plus(node.tensor, node.row, node.operands[0]);
        step_.matrices.push_back({node.tensor, node.row, left, chosen, true});
        if (active_[at(node.operands[0])])
          send(node.operands[0], graph.scatter_sum(left, chosen), Extent::Vector);
        return;
      }
      case NodeKind::ReduceSum: return send(node.operands[0], adjoint, Extent::Vector);
      case NodeKind::ReduceMax: {
        const NodeId attained = attains(graph, node.operands[0], id);
        const NodeId share = graph.scalar(Op::Div, {adjoint, graph.reduce_sum(attained)});
        return send(node.operands[0], graph.scalar(Op::Select, {attained, share, graph.constant(0)}),
                    Extent::Vector);
      }
      case NodeKind::SumRows:
      case NodeKind::ReduceSpread: throw std::logic_error("backward_step: a node that only schedules make");
      case NodeKind::ArgMaxPlus:
      case NodeKind::ScatterSum: throw std::logic_error("backward_step: a node that derivatives make");
      case NodeKind::Shift:
      case NodeKind::Rotate:
      case NodeKind::PrefixSum:
      case NodeKind::SuffixSum:
        return send(node.operands[0], transposed(graph, node, adjoint), Extent::Vector);
      case NodeKind::Constant:
      case NodeKind::NamedConst:
      case NodeKind::Leaf:
      case NodeKind::HeadSize:
      case NodeKind::Gradient:
      case NodeKind::Uniform:
      case NodeKind::StepIndex: return;
    }
  }

  // The gradient of every row of a kind: the sum over the leaves that read it.
  std::vector<Row> collect(TensorKind kind) {
    std::vector<Row> rows;
    for (const TensorId id : cell_.of_kind(kind)) {
      const Tensor& tensor = cell_.tensor(id);
      if (tensor.tail == Tail::Matrix) continue;
      for (int row = 0; row < tensor.rows; ++row) rows.push_back({id, row, gradient_of(id, row)});
    }
    return rows;
  }

  NodeId gradient_of(TensorId tensor, int row) {
    NodeId sum = kNoNode;
    for (NodeId id = 0; id < step_.forward_nodes; ++id) {
      const Node& node = cell_.graph.at(id);
      if (node.kind == NodeKind::Leaf && node.tensor == tensor && node.row == row)
        accumulate(step_.graph, sum, adjoint_[at(id)]);
    }
    return sum == kNoNode ? step_.graph.constant(0) : sum;
  }

  void clip_recurrence(double bound) {
    const std::vector<bool> recurrent = recurrent_rows(cell_);
    for (std::size_t i = 0; i < recurrent.size(); ++i)
      if (recurrent[i])
        step_.previous_states[i].value = clamp_to(step_.graph, step_.previous_states[i].value, bound);
  }

  // Past the end of a row (forms.h) an input may be anything, so that what is computed from it may be no
  // number, and zero times that is none either. So what flows inside such a step is of no interest, and every
  // gradient that leaves it is selected: zero, or that of the state after it.
  NodeId only_valid(NodeId gradient) {
    if (valid_ == kNoNode) return gradient;
    return step_.graph.scalar(Op::Select, {valid_, gradient, step_.graph.constant(0)});
  }

  NodeId passed_through(const Row& previous) {
    if (valid_ == kNoNode) return previous.value;
    const GradientRef after{GradientRef::Of::NextState, previous.tensor, previous.row};
    const Tensor& tensor = cell_.tensor(previous.tensor);
    return step_.graph.scalar(Op::Select,
                              {valid_, previous.value, step_.graph.gradient(after, extent_of(tensor))});
  }

  // Whether the node is one of those by which forms.h takes a value in valid steps only: in others it is
  // zero, or a state as it was.
  bool is_masked(const Node& node) const {
    if (valid_ == kNoNode || node.op != Op::Select) return false;
    const Node& otherwise = cell_.graph.at(node.operands[2]);
    return is_leaf(cell_.graph.at(node.operands[0]), TensorKind::Length) &&
           (otherwise.kind == NodeKind::Constant || is_leaf(otherwise, TensorKind::State));
  }
  bool is_leaf(const Node& node, TensorKind kind) const {
    return node.kind == NodeKind::Leaf && cell_.tensor(node.tensor).kind == kind;
  }

  void simplify_step() {
    std::vector<NodeId*> roots;
    for (std::vector<Row>* rows : {&step_.previous_states, &step_.inputs, &step_.params})
      for (Row& row : *rows) roots.push_back(&row.value);
    for (MatrixGradient& matrix : step_.matrices) roots.insert(roots.end(), {&matrix.left, &matrix.right});
    for (NodeId* root : roots) *root = value_of(step_.graph, *root);
    step_.graph = simplify(values_only(std::move(step_.graph)), std::move(roots), step_.forward_nodes);
    std::erase_if(step_.matrices, [&](const MatrixGradient& matrix) {
      return is_number(step_.graph, matrix.left, 0) ||
             (!matrix.chosen && is_number(step_.graph, matrix.right, 0));
    });
  }

  const Cell& cell_;
  BackwardStep step_;
  NodeId valid_ = kNoNode;  // says whether the step is one of its row; kNoNode: every step is
  std::vector<bool> active_;
  std::vector<NodeId> adjoint_;
};

// d next[i] / d state for every i, per channel: forward mode with 1 for this state row, in a cell none of
// whose states couples channels. What leads across channels there ends in an output or a branch that is never
// taken.
std::vector<NodeId> jacobian_column(const Cell& cell, const Row& state, Graph& graph) {
  Seeds seeds;
  seeds.leaf = [&](const Node& leaf) {
    return leaf.tensor == state.tensor && leaf.row == state.row ? graph.constant(1) : kNoNode;
  };
  const std::vector<NodeId> tangents = append_tangents(cell, seeds, graph);
  std::vector<NodeId> column;
  column.reserve(cell.next.size());
  for (const Row& row : cell.next) column.push_back(tangents[at(row.value)]);
  return column;
}

}  // namespace

BackwardStep backward_step(const Cell& cell) { return ReverseSweep(cell).run(); }

JacobianStep jacobian_step(const Cell& written) {
  if (!analyze(written).all_diagonal)
    throw std::logic_error("jacobian_step: cell " + written.name + " couples the channels of a head");
  const Cell cell = values_only(written);
  JacobianStep step;
  step.graph = cell.graph;
  step.forward_nodes = static_cast<NodeId>(cell.graph.nodes.size());
  step.states = static_cast<int>(cell.next.size());
  step.entries.assign(cell.next.size() * cell.next.size(), kNoNode);
  for (std::size_t j = 0; j < cell.next.size(); ++j) {
    const std::vector<NodeId> column = jacobian_column(cell, cell.next[j], step.graph);
    for (std::size_t i = 0; i < column.size(); ++i) step.entries[i * cell.next.size() + j] = column[i];
  }
  std::vector<NodeId*> roots;
  for (NodeId& entry : step.entries) roots.push_back(&entry);
  step.graph = simplify(step.graph, std::move(roots), step.forward_nodes);
  for (NodeId& entry : step.entries)
    if (entry != kNoNode && is_number(step.graph, entry, 0)) entry = kNoNode;
  return step;
}

}  // namespace rondo::step
