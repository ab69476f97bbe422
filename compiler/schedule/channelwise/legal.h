// For which cells kernels of channels on their own can be written.
#pragma once

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// What may have one value a head and step.
enum class HeadValues { None, Inputs, StatesToo };  // the last: inputs, states and outputs

// Whether no channel of the step sees another: no products with matrices, no reductions. Values of the head
// then follow no channel, so that each can have its own copy of those that are allowed.
Legality channels_alone(const Task& task, HeadValues allowed);

}  // namespace rondo::schedule
