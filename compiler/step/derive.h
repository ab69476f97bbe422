// Reverse-mode differentiation of one step, and the Jacobian of diagonal cells.
#pragma once

#include <string>
#include <vector>

#include "compiler/step/step_ir.h"

namespace rondo::step {

// The gradient of one matrix parameter row: dR[row] += sum over batch and time of left (x) right, i.e.
// dR_ij += left_i * right_j. Schedules turn it into a GEMM over all steps. Of a max-plus product right are
// the numbers of the chosen channels: dR_ij += left_i where right_i is j.
struct MatrixGradient {
  TensorId tensor = -1;
  int row = 0;
  NodeId left = kNoNode;
  NodeId right = kNoNode;
  bool chosen = false;  // right is an ArgMaxPlus
};

// The backward step, by derivatives as the cell declares them. Its graph begins with a copy of the forward
// graph (same NodeIds, values_only() of declared.h), followed by gradient nodes, so a schedule may recompute
// any forward value or load it instead. Incoming: Gradient nodes for every output row and every state row
// after the step. Gradients are per (batch, head) and step; parameter gradients are sums over batch and time
// of the nodes named here (scalar parameters: of Scalar nodes).
struct BackwardStep {
  Graph graph;
  NodeId forward_nodes = 0;              // nodes [0, forward_nodes) are the forward step
  std::vector<Row> previous_states;      // gradient of every state row before the step, clipped (clip.h)
  std::vector<Row> inputs;               // gradient of every input row (a zero constant if it has none)
  std::vector<Row> params;               // contribution of this step to vector and scalar parameter rows
  std::vector<MatrixGradient> matrices;  // several entries of one row add up; none: zero
};
// Precondition: verify(cell) is empty; simplify the cell first, the forward prefix is kept as it is.
// Conventions at points without a derivative: derivative_table.h; channels that tie for a ReduceMax share its
// gradient evenly (torch.amax), of those that tie for a MaxPlus the first one has it (torch.max). Where a
// Scalar was broadcast (scalar parameters and inputs), its gradient contains a ReduceSum over the head.
BackwardStep backward_step(const Cell& cell);

// For all-diagonal cells (others: std::logic_error, look at analyze() first): d next[i] / d previous[j] per
// channel as nodes, i and j in the order of Cell::next. Newton's method needs them as they are: what a cell
// declares has no part in them.
struct JacobianStep {
  Graph graph;  // begins with the forward graph, values_only()
  NodeId forward_nodes = 0;
  int states = 0;
  std::vector<NodeId> entries;  // states x states, row-major; kNoNode where structurally zero
};
JacobianStep jacobian_step(const Cell& cell);

std::string print(const Cell& cell, const BackwardStep& step);
std::string print(const Cell& cell, const JacobianStep& step);

}  // namespace rondo::step
