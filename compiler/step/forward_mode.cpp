#include "compiler/step/forward_mode.h"

#include <stdexcept>

#include "compiler/step/chain_rule.h"
#include "compiler/step/derivative_table.h"
#include "compiler/support/index.h"

namespace rondo::step {

namespace {

using scalar::Op;

// Forward mode over the nodes of the graph in their order (Griewank & Walther, "Evaluating derivatives",
// section 3.1).
class ForwardSweep {
 public:
  ForwardSweep(const Cell& cell, const Seeds& seeds, Graph& graph)
      : cell_(cell), seeds_(seeds), graph_(graph) {}

  std::vector<NodeId> run() {
    tangent_.reserve(cell_.graph.nodes.size());
    for (NodeId id = 0; id < static_cast<NodeId>(cell_.graph.nodes.size()); ++id)
      tangent_.push_back(tangent_of(id));
    return std::move(tangent_);
  }

 private:
  NodeId tangent_of(NodeId id) {
    const Node& node = cell_.graph.at(id);
    switch (node.kind) {
      case NodeKind::Leaf: return seeds_.leaf(node);
      case NodeKind::Scalar: return through_scalar(id, node);
      case NodeKind::MatVec:
      case NodeKind::MatTVec: return through_product(node);
      case NodeKind::MaxPlus:  // tangent() refuses it, and no Jacobian of a diagonal step needs it
      case NodeKind::ArgMaxPlus:
      case NodeKind::ScatterSum: break;
      case NodeKind::ReduceSum: return over_head(tangent_[at(node.operands[0])]);
      case NodeKind::ReduceMax: return through_maximum(id, node.operands[0]);
      case NodeKind::Shift:
      case NodeKind::Rotate:
      case NodeKind::PrefixSum:
      case NodeKind::SuffixSum: return along_head(node);
      case NodeKind::SumRows:
      case NodeKind::ReduceSpread: throw std::logic_error("tangents of a node that only schedules make");
      case NodeKind::Constant:
      case NodeKind::NamedConst:
      case NodeKind::HeadSize:
      case NodeKind::Gradient:
      case NodeKind::StepIndex:
      case NodeKind::Uniform: break;  // a draw has no derivative by its seed
    }
    return kNoNode;
  }

  NodeId through_scalar(NodeId id, const Node& node) {
    NodeId sum = kNoNode;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const NodeId flow = tangent_[at(node.operands[i])];
      if (flow == kNoNode) continue;
      accumulate(graph_, sum, chain(graph_, partial(graph_, id, static_cast<int>(i)), flow));
    }
    return sum;
  }

  // (R v)' = R v' + R' v.
  NodeId through_product(const Node& node) {
    const auto product = [&](TensorId matrix, NodeId vector) {
      return node.kind == NodeKind::MatVec ? graph_.matvec(matrix, node.row, vector)
                                           : graph_.mat_t_vec(matrix, node.row, vector);
    };
    NodeId sum = kNoNode;
    const NodeId flow = tangent_[at(node.operands[0])];
    if (flow != kNoNode) sum = product(node.tensor, flow);
    const TensorId matrix = seeds_.matrix(node.tensor);
    if (matrix >= 0) accumulate(graph_, sum, product(matrix, node.operands[0]));
    return sum;
  }

  NodeId over_head(NodeId flow) { return flow == kNoNode ? kNoNode : graph_.reduce_sum(flow); }

  NodeId along_head(const Node& node) {
    const NodeId flow = tangent_[at(node.operands[0])];
    return flow == kNoNode ? kNoNode : graph_.along_head(node.kind, flow, node.offset);
  }

  NodeId through_maximum(NodeId maximum, NodeId vector) {
    const NodeId flow = tangent_[at(vector)];
    if (flow == kNoNode) return kNoNode;
    const NodeId attained = attains(graph_, vector, maximum);
    const NodeId chosen = graph_.scalar(Op::Select, {attained, flow, graph_.constant(0)});
    return graph_.scalar(Op::Div, {graph_.reduce_sum(chosen), graph_.reduce_sum(attained)});
  }

  const Cell& cell_;
  const Seeds& seeds_;
  Graph& graph_;
  std::vector<NodeId> tangent_;
};

}  // namespace

std::vector<NodeId> append_tangents(const Cell& cell, const Seeds& seeds, Graph& graph) {
  return ForwardSweep(cell, seeds, graph).run();
}

}  // namespace rondo::step
