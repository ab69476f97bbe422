// For which cells kernels of channels on their own can be written.
#pragma once

#include "compiler/schedule/plan/strategy.h"

namespace rondo::schedule {

// Whether no channel of the step sees another: no products with matrices, no reductions, nothing with one
// value a head and step.
Legality channels_alone(const step::Cell& cell, const Problem& problem);

}  // namespace rondo::schedule
