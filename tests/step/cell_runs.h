// Running one graph in place of another on the same arguments.
#pragma once

#include "compiler/step/derive.h"
#include "compiler/step/reference/executor.h"

namespace rondo::step::testing {

// The cell with one output row a node of `graph`, which extends the cell's own: output "probe", in the order
// of `nodes`; kNoNode gives 0. How tests look at values inside a graph.
Cell with_probes(const Cell& cell, const Graph& graph, const std::vector<NodeId>& nodes);

// Largest |a - b| over all tensors, relative to the larger of 1 and |b|; infinity if shapes differ or one is
// NaN and the other not.
double largest_difference(const TensorMap<double>& a, const TensorMap<double>& b);

}  // namespace rondo::step::testing
