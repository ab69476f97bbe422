// A step that is affine in what it carries: result = sum_k coefficient_k * u_k + constant, with
// u_k = carried_k + shift_k. Coefficients, constants and shifts are known before the carried values are. A
// shift exists where the step uses a carried value only after adding something to it, as a backward sweep
// adds the output's gradient; most results are then multiples of u without a constant. Affine cells are
// affine forward, and every cell backward unless its gradients are clipped. Affine steps can be composed, so
// several segments of time are computed at once (Blelloch 1990, "Prefix sums and their applications", section
// 1.4: first-order recurrences).
#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

struct LinearForm {
  std::vector<int> coefficients;  // by carried row: index into LinearStep::carry_free.roots, -1 for zero
  int constant = -1;              // index of the term without a carry, or -1 for zero
};

struct LinearStep {
  step::StepGraph carry_free;     // computes coefficients and constants; reads no carried value
  std::vector<LinearForm> roots;  // one for each root of the original graph
  std::vector<int> shifts;        // by carried row: index into carry_free.roots, -1 for none
  // Whether a condition chooses between a carried value and none, as a reset does. The step then forgets an
  // infinite value, but its form multiplies it by zero, which gives NaN.
  bool cuts = false;
};

// The rows carried from step to step are those of Cell::next, in that order. nullopt if some root is not
// affine in them.
std::optional<LinearStep> linear_step(const Task& task, const step::StepGraph& original);

}  // namespace rondo::schedule
