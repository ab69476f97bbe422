// Sums the gradients of vector and scalar parameters over the batch, always in the same order: runs are
// bit-identical.
#pragma once

#include <vector>

#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// One launch for each vector and scalar parameter of the cell. They read the workspace, fp32
// [B, shares, H, P, D] with P = param_rows(cell), and sum it over the batch and the shares (for scalars over
// D too).
std::vector<Launch> sum_param_gradients(const Task& task, int shares = 1);

}  // namespace rondo::schedule
