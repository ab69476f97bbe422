// Removes instructions from the step. Factors and terms that do not change from step to step (parameters,
// constants, the halves of sigmoid(u) = tanh(u / 2) / 2 + 1/2) are folded into one multiply-add, whose two
// factors are computed before the time loop.
#pragma once

#include "compiler/step/step_ir.h"

namespace rondo::schedule {

// Values change by rounding only; for kernel::Math::Fast.
step::StepGraph fold_parameters(const step::Cell& cell, const step::StepGraph& original);

// Instructions of a step that this takes away, and x (1 - y) lowered as one multiply-add (GraphLowering).
int instructions_folded(const step::Cell& cell, const step::StepGraph& original);

}  // namespace rondo::schedule
