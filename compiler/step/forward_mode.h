// Forward-mode differentiation of one step: tangents of all values from those of what the step reads.
#pragma once

#include <functional>
#include <vector>

#include "compiler/step/step_ir.h"

namespace rondo::step {

// The tangents that the step's operands have.
struct Seeds {
  // Of a Leaf node: a node of the graph, or kNoNode for zero.
  std::function<NodeId(const Node& leaf)> leaf;
  // Of a matrix: a matrix parameter whose rows are the tangents of its rows, or -1 for zero.
  std::function<TensorId(TensorId matrix)> matrix = [](TensorId) { return -1; };
};

// Appends to `graph`, which begins with the graph of `cell`, the tangent of every node of the cell: its
// derivative along the seeds, per channel if the node is a Vector. A Scalar stands for a vector of equal
// channels (step_ir.h). kNoNode: structurally zero. Not simplified. Conventions at points without a
// derivative are those of the backward step (derive.h).
std::vector<NodeId> append_tangents(const Cell& cell, const Seeds& seeds, Graph& graph);

}  // namespace rondo::step
