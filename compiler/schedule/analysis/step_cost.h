// What one step of one channel costs: instructions, special functions, and the dependent chain from carry to
// carry.
#pragma once

#include <vector>

#include "compiler/schedule/problem/task.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

struct StepCost {
  int alu = 0;      // fp32 instructions
  int special = 0;  // special-function instructions
  int chain = 0;    // cycles from a carried value to its successor, the longest path
};

// Nodes that depend on parameters alone cost nothing: they are hoisted out of the time loop.
StepCost step_cost(const Task& task, const step::Graph& graph, const std::vector<step::NodeId>& roots);

}  // namespace rondo::schedule
