// Reductions over the head of all steps at once, in a launch before the sweep.
#pragma once

#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/sweep/backward_split.h"
#include "compiler/target/profile.h"

namespace rondo::schedule {

// Computes the per-head values of every batch row, step and head that `sweep` reads
// (SpreadSweep::head_values, not empty) into scratch tensor kHeadValues, fp32 [B, T, H, rows]. `sweep` is
// that of `split`. The products the values depend on are there already.
Launch time_head_values(const Task& task, const BackwardSplit& split, const SpreadSweep& sweep);
// Seconds that this takes by the model, 0 without such values: twice the time of a copy of what it reads. On
// an H200 the launch of a layer-normalised LSTM (B=16, T=1024, 12 heads of 64, bf16) took 84 us, 1.8 times
// such a copy, because of shuffles and functions.
double seconds_of_head_values(const Task& task, const SpreadSweep& sweep, const target::Speeds& speeds);

}  // namespace rondo::schedule
