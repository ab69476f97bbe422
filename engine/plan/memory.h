// Device memory that a plan takes beside the tensors its caller has anyway.
#pragma once

#include <cstdint>

#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/support/result.h"

namespace rondo::engine {

struct PlanMemory {
  // Histories of states that no output carries, kept from the forward pass (fws) to the backward one. 0 for
  // fw.
  std::int64_t saved_bytes = 0;
  std::int64_t workspace_bytes = 0;  // DevicePlan::workspace_bytes, during the pass
};

// At the problem's B and T. Errors: those of schedule::lower_plan().
Result<PlanMemory> plan_memory(const schedule::Task& task, const schedule::KernelPlan& plan);

}  // namespace rondo::engine
