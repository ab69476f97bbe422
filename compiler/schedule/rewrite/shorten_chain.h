// Shortens the dependent chain from carry to carry, which bounds a recurrence with few channels.
//
// Let `late` be the value that arrives last on the chain (a tanh, say). Every sum or product above it is
// written as alpha * late + beta, and alpha and beta are computed while `late` is on its way. So one
// multiply-add is left on the chain, whatever the cell's text has there. Products with matrices arrive later
// than everything else the step computes. sigmoid(u) first becomes tanh(u / 2) / 2 + 1/2, as the hardware
// computes it. Values change by rounding only; used with kernel::Math::Fast.
#pragma once

#include "compiler/schedule/problem/task.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

step::StepGraph shorten_chain(const Task& task, const step::StepGraph& original);

}  // namespace rondo::schedule
