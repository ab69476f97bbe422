// Which values go from one step to the next.
#pragma once

#include <string>

#include "compiler/schedule/problem/task.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

// Is the node carried from step to step? Forward: a state. Backward: the gradient of a next state (previous
// states are loaded like inputs there).
bool is_carried(const Task& task, const step::Node& node);
// Which of the rows that a step carries, as Cell::next counts them, is a row of a state; and such a row's
// name.
std::size_t carried_row(const step::Cell& cell, step::TensorId state, int row);
std::string carried_name(const step::Cell& cell, std::size_t k);

}  // namespace rondo::schedule
