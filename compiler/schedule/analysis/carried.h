// Which values go from one step to the next.
#pragma once

#include "compiler/schedule/problem/task.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

// Is the node carried from step to step? Forward: a state. Backward: the gradient of a next state (previous
// states are loaded like inputs there).
bool is_carried(const Task& task, const step::Node& node);

}  // namespace rondo::schedule
