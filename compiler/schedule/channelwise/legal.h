// For which cells kernels of channels on their own can be written.
#pragma once

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// Whether no channel of the step sees another: no products with matrices, no reductions, nothing with one
// value a head and step, but for inputs with `per_head_inputs`.
Legality channels_alone(const Task& task, bool per_head_inputs = false);

}  // namespace rondo::schedule
