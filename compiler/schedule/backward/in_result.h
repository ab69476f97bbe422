// Products in the memory of the gradients that the sweep makes of them.
//
// A backward pass that multiplies again has products of all steps in memory, [B, T, H, rows, D], and then
// writes gradients of an input of the same size. The sweep reads a step's products before it writes that
// step's gradients, and nothing reads them after it, so one memory serves for both.
#pragma once

#include <optional>

#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/sweep/backward_split.h"

namespace rondo::schedule {

// The products, and the gradient in whose memory they may lie: one with as many rows, or with one head with
// no fewer, so that a row's element lies where the same channel's gradient will. None where no input is such,
// or heads walk in two directions: products lie in the order of the walk, and no stride is that of both
// halves.
//
// What is left to the sweep: that an element of a row is read by who writes the gradient there, and before.
std::optional<InResult> products_in_gradient(const Task& task, const BackwardSplit& split);

}  // namespace rondo::schedule
