// The launch that clears the exchange words, before blocks send each other any through global memory.
#pragma once

#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// Marks every word of the plan's exchange as not yet written (kernel::kEmpty).
Launch clear_exchange(const Task& task, const KernelPlan& plan);

}  // namespace rondo::schedule
