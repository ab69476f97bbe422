// The chain rule over nodes of a graph, where kNoNode stands for a derivative that is structurally zero.
// Internal to what differentiates: derive.cpp, forward_mode.cpp.
#pragma once

#include "compiler/step/step_ir.h"

namespace rondo::step {

inline bool is_number(const Graph& graph, NodeId id, double value) {
  return graph.at(id).kind == NodeKind::Constant && graph.at(id).value == value;
}

// The product of a partial and what flows through it, either of which may be structurally zero.
inline NodeId chain(Graph& graph, NodeId partial, NodeId flow) {
  if (partial == kNoNode || flow == kNoNode) return kNoNode;
  if (is_number(graph, partial, 0) || is_number(graph, flow, 0)) return kNoNode;
  if (is_number(graph, partial, 1)) return flow;
  return is_number(graph, flow, 1) ? partial : graph.scalar(scalar::Op::Mul, {flow, partial});
}

inline void accumulate(Graph& graph, NodeId& sum, NodeId term) {
  if (term == kNoNode) return;
  sum = sum == kNoNode ? term : graph.scalar(scalar::Op::Add, {sum, term});
}

// Whether each channel equals the maximum over the head, 1 or 0. Those that do share its derivative evenly,
// as torch.amax has it.
inline NodeId attains(Graph& graph, NodeId vector, NodeId maximum) {
  return graph.scalar(scalar::Op::Equal, {vector, maximum});
}

// What is along the head is a linear map of its vector: the transposed map, of what flows back.
inline NodeId transposed(Graph& graph, const Node& node, NodeId flow) {
  switch (node.kind) {
    case NodeKind::PrefixSum: return graph.along_head(NodeKind::SuffixSum, flow);
    case NodeKind::SuffixSum: return graph.along_head(NodeKind::PrefixSum, flow);
    default: return graph.along_head(node.kind, flow, -node.offset);
  }
}

}  // namespace rondo::step
