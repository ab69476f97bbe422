// Derivatives that a cell declares itself: with_gradient(value, smooth), and stop_gradient(x), which is
// with_gradient(x, 0). In the graph of a cell they are nodes of Op::WithGradient. What a step computes,
// forward and in the backward pass, are values; derivatives are taken of the graph with these nodes
// (derive.h), and then what reads such a node reads its value in place of it. So no kernel has one, and what
// only a derivative was declared by is dead code.
#pragma once

#include "compiler/step/step_ir.h"

namespace rondo::step {

bool declares_derivatives(const Graph& graph);

// The node whose value this one has: itself, or the value of one with a declared derivative.
NodeId value_of(const Graph& graph, NodeId id);

// The graph with all operands replaced by the nodes whose values they have. Nodes keep their ids; those with
// a declared derivative stay, and nothing reads them.
Graph values_only(Graph graph);
// The same of a cell: its next states and outputs read no such node either.
Cell values_only(Cell cell);

}  // namespace rondo::step
