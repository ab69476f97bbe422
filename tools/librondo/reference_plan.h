// Plans of the CPU: the reference executor behind the launch walk of all plans.
#pragma once

#include <memory>

#include "compiler/schedule/problem/problem.h"
#include "compiler/schedule/problem/task.h"
#include "runtime/capi/launch/plan.h"

namespace rondo::capi {

// The executable of a pass on the CPU: the tensors that a kernel of the pass may ask for, and one launch that
// takes all of them. Its types and shapes are those of kernels, so that callers need not know which they
// have. Errors: Unsupported (too many tensors, or too large ones).
Result<executable::Executable> reference_executable(const schedule::Task& task);

// What is known of a plan by it.
PlanFacts reference_facts();

// A plan that computes in fp64 and rounds what it stores. It reads saved tensors as a backward kernel does
// and runs no forward pass again. Errors: those of reference_executable().
Result<std::unique_ptr<PlanObject>> reference_plan(std::shared_ptr<const Device> device,
                                                   const schedule::Task& task);

}  // namespace rondo::capi
