// A step whose results are affine in what it carries: result = sum_k coefficient_k * carried_k + constant,
// where the coefficients and the constant are known before the carried values are. Affine cells are so
// forward, and every cell backward, unless its gradients are clipped. It is what lets several segments of
// time be worked on at once (Blelloch 1990, "Prefix sums and their applications", section 1.4: first-order
// recurrences).
#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/shorten_chain.h"

namespace rondo::schedule {

struct LinearForm {
  std::vector<int> coefficients;  // by carried row: index into LinearStep::early.roots, -1 for zero
  int constant = -1;              // likewise
};

struct LinearStep {
  StepGraph early;                // computes coefficients and constants; reads no carried value
  std::vector<LinearForm> roots;  // one for each root of the original graph
};

// The rows carried from step to step are those of Cell::next, in that order. nullopt if some root is not
// affine in them.
std::optional<LinearStep> linear_step(const step::Cell& cell, const Problem& problem,
                                      const StepGraph& original);

}  // namespace rondo::schedule
