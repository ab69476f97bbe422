// Removes instructions from the step. Factors and terms that do not change from step to step (parameters,
// constants, the halves of sigmoid(u) = tanh(u / 2) / 2 + 1/2) are folded into one multiply-add, whose two
// factors are computed before the time loop.
#pragma once

#include <functional>
#include <string>

#include "compiler/schedule/problem/task.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

// Values change by rounding only; for kernel::Math::Fast.
step::StepGraph fold_parameters(const step::Cell& cell, const step::StepGraph& original);

// Instructions of the task's step `name`, which `step` gives, that this takes away, and x (1 - y) lowered as
// one multiply-add (GraphLowering). A name stands for one step, whatever the sizes.
int instructions_folded(const Task& task, const std::string& name,
                        const std::function<step::StepGraph()>& step);

}  // namespace rondo::schedule
