// Which tensors the backward pass reads, and where each previous state is found.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/problem/tensor_ref.h"
#include "compiler/step/derive.h"

namespace rondo::schedule {

// A row of a tensor with a time axis.
struct RowRef {
  TensorRef tensor;
  int row = 0;
};

struct BackwardNeeds {
  step::BackwardStep step;
  std::vector<step::TensorId> inputs;  // input tensors some gradient depends on
  std::vector<TensorRef>
      history_tensors;  // outputs or histories that hold the previous states needed, each once
  std::map<std::pair<step::TensorId, int>, RowRef> history;  // (state, row) needed -> where it is stored
};
// Of a simplified cell, as Task has it.
BackwardNeeds backward_needs(const step::Cell& cell);
// The same where kernels are made of it: the watcher of the task is told.
BackwardNeeds backward_needs(const Task& task);

// Which states' histories the forward pass must store for Backward: those no output row already carries.
std::vector<step::TensorId> stored_histories(const step::Cell& cell);

// Rows of a state's history, one of fp32 counted as two where the storage type has 16 bits.
int history_rows(const Task& task, step::TensorId state);

// Ids of the nodes of `graph` that `roots` depend on, ascending.
std::vector<step::NodeId> reachable(const step::Graph& graph, const std::vector<step::NodeId>& roots);

// The roots of a forward step: next states, then outputs, in the cell's order; of those with a declared
// derivative (step/declared.h) the nodes that have their values.
std::vector<step::NodeId> forward_roots(const step::Cell& cell);
// The same, then the products that the pass stores, ascending (saved_products.h).
std::vector<step::NodeId> forward_roots(const Task& task);
// The step that a forward pass computes, by the same ids: the graph without declared derivatives, and its
// roots.
step::StepGraph forward_step(const step::Cell& cell);
step::StepGraph forward_step(const Task& task);

// The roots of a backward step: gradients of previous states, inputs, parameters.
std::vector<step::NodeId> roots_of(const step::BackwardStep& step);

}  // namespace rondo::schedule
