// For which cells kernels of channels on their own can be written.
#pragma once

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// Whether no channel of the step sees another: no products with matrices, no reductions. Values of the head
// then follow no channel, so that each can have its own copy of all of them: with `per_head_inputs` there may
// be inputs with one value a head and step, and with `per_head_states` states and outputs too.
Legality channels_alone(const Task& task, bool per_head_inputs = false, bool per_head_states = false);

}  // namespace rondo::schedule
