// Reductions over the head of all steps at once, in a launch before the sweep.
#pragma once

#include "compiler/schedule/analysis/backward_split.h"
#include "compiler/schedule/plan/kernel_plan.h"

namespace rondo::schedule {

// Computes the numbers of every batch row, step and head that `sweep` reads (SpreadSweep::numbers) into
// scratch tensor kNumbers. The products they depend on are there already.
Launch time_numbers(const step::Cell& cell, const Problem& problem, const BackwardSplit& split,
                    const SpreadSweep& sweep);

}  // namespace rondo::schedule
