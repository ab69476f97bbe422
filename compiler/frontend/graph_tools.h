// Small analyses of a step graph that the checker needs.
#pragma once

#include "compiler/step/step_ir.h"

namespace rondo::frontend {

// What a value is made of.
enum class Origin {
  Literals,  // numbers only: known now
  Consts,    // also consts or the head size: one number, known when the kernel is made
  Tensors,   // inputs, params or states
};
Origin origin_of(const step::Graph& graph, step::NodeId node);

// The number a node of Origin::Literals stands for.
double evaluate(const step::Graph& graph, step::NodeId node);

// Drops the nodes that no next state and no output needs, keeping the order of the rest.
void drop_unused_nodes(step::Cell& cell);

}  // namespace rondo::frontend
