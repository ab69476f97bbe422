// From a plan of kernels to the launchable artifact.
#pragma once

#include <string>

#include "compiler/executable/executable.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/problem/tensor_ref.h"
#include "compiler/support/result.h"

namespace rondo::schedule {

// Whose plan it is: all of Identity but the hashes of the source and of what was asked.
executable::Identity identity_of(const Task& task, const std::string& strategy, const Parameters& parameters);

// The executable of a plan for the task, without code and without the hash of its source. Errors: Unsupported
// (a step of a tensor has more than 2^31 - 1 elements, or the cell too many tensors), Internal (the plan
// contradicts itself).
Result<executable::Executable> lower_plan(const Task& task, const KernelPlan& plan);

// A tensor that a caller may bind, as executables of the problem have it; `alignment`: of the plan, bytes.
// Not marked as written. Errors (Unsupported): a step of it has more than 2^31 - 1 elements.
Result<executable::Tensor> bound_tensor(TensorRef ref, const Task& task, int alignment);

// What a launch of the kernel needs.
executable::Kernel launch_needs(const kernel::Kernel& kernel);

}  // namespace rondo::schedule
