// The kernel of a diagonal cell on CPUs.
#pragma once

#include "compiler/schedule/host/parameters.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/sweep/sweep.h"

namespace rondo::schedule {

// Adds the launches of a sweep. A block walks over the steps of one batch row with `channels` neighbouring
// channels of a head, a vector at a time. Their carries, and the sums of their parameters' gradients, are in
// registers, or where the compiler keeps them; with more vectors than HostParameters::kMostInRegisters they
// are in the block's own memory, and a rolled loop walks over the vectors of each step. With segments of time
// (segments.h) the sums have a share for each. Throws std::invalid_argument for segments of a sweep that is
// not affine, or of a rolled loop.
void host_diagonal(const Task& task, const Sweep& sweep, const HostParameters& parameters, KernelPlan& plan);

}  // namespace rondo::schedule
