// The plain plans that a kernel is compared with at the user's full sizes, where no reference on the CPU can
// follow (in fp64 where that is the problem's type, and else in fp32): *alternating* in fp32, one launch a
// step, one channel a thread, sums in fp32 without tensor cores. It shares no kernel with the other
// strategies; beside a kernel of its own it runs with other tiles. On CPUs it is *host* with the least
// blocks, and other ones beside such a kernel.
#pragma once

#include <optional>

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/support/result.h"
#include "compiler/target/profile.h"

namespace rondo::engine {

struct PlainPlan {
  schedule::Task task;  // as asked, with the storage of plain plans and its own math
  schedule::KernelPlan plan;
};

struct PlainPlans {
  PlainPlan same;  // of the pass, with the kind of math that was asked for (tf32: fp32)
  // Of the pass, with accurate math, functions that err as those of the problem may
  // (kernel::with_erring_functions()), what matrices multiply that errs too (erring_factors.h: a cell with a
  // parameter more), and numbers of the cell that are off by a rounding: what perturbed runs take
  // (at_shape.h).
  PlainPlan perturbed;
  std::optional<PlainPlan> forward;  // of a backward pass: the forward one that saves for it
};

// `beside`: strategy and parameters of the kernel that is compared. Errors: Unsupported where the cell has
// what plain plans cannot do (reductions over the head, inputs or states of one value a head), Internal for a
// defect.
Result<PlainPlans> plain_plans(const schedule::Task& task, const std::string& strategy,
                               const schedule::Parameters& beside);

// How far off the inputs of a perturbed run are, relative to their size: as far as a kernel of the problem
// may round values inside the pass. Factors of matrix products are rounded to the storage type, or to tf32;
// all else is fp32, or fp64.
double rounding_inside(const schedule::Task& task);

}  // namespace rondo::engine
