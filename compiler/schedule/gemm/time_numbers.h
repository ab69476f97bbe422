// Reductions over the head of all steps at once, in a launch before the sweep.
#pragma once

#include "compiler/schedule/analysis/backward_split.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/target/profile.h"

namespace rondo::schedule {

// Computes the numbers of every batch row, step and head that `sweep` reads (SpreadSweep::numbers) into
// scratch tensor kNumbers. The products they depend on are there already.
Launch time_numbers(const step::Cell& cell, const Problem& problem, const BackwardSplit& split,
                    const SpreadSweep& sweep);
// What that takes by the model; 0 without numbers. It reads what they are made of. On an H200 the launch of a
// layer-normalised LSTM of 12 x 64 took 1.8 times as long as a copy of these bytes: shuffles and functions.
double seconds_of_numbers(const step::Cell& cell, const Problem& problem, const SpreadSweep& sweep,
                          const target::Speeds& speeds);

}  // namespace rondo::schedule
