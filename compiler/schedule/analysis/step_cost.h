// What one step of one channel costs: instructions, special functions, and the dependent chain from carry to
// carry.
#pragma once

#include <functional>
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

// The longest path from a carried value to its successor, where an operation takes what `latency` says, in
// its unit. Operations on parameters alone lie on no path. A path ends at what is no operation of a channel
// (StepCost::chain), or goes on: products and sums over the head then take no time of their own.
enum class Across { Ends, GoesOn };
double longest_chain(const Task& task, const step::Graph& graph, const std::vector<step::NodeId>& roots,
                     const std::function<double(const scalar::OpInfo&)>& latency, Across across);

}  // namespace rondo::schedule
