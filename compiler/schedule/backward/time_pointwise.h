// Elementwise values of all steps at once, each from inputs, previous states and products of its own step.
#pragma once

#include "compiler/schedule/gemm/time_threads.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/sweep/backward_split.h"

namespace rondo::schedule {

// Computes the vector `node` of every batch row, step and head into its row of scratch tensor kVectors. The
// products it depends on are there already. `access` suits the alignment of tensors with a time axis.
Launch time_vector(const Task& task, const BackwardSplit& split, step::NodeId node, const TimeAccess& access);

}  // namespace rondo::schedule
