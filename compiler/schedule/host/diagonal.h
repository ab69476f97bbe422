// The kernel of a diagonal cell on CPUs.
#pragma once

#include "compiler/schedule/analysis/sweep.h"
#include "compiler/schedule/host/parameters.h"
#include "compiler/schedule/plan/kernel_plan.h"

namespace rondo::schedule {

// A block walks over all steps of one batch row with `channels` neighbouring channels of a head, a vector at
// a time. Their carries, and the sums of their parameters' gradients, are in registers, or where the compiler
// keeps them.
Launch host_diagonal(const step::Cell& cell, const Problem& problem, const Sweep& sweep,
                     const HostParameters& parameters);

}  // namespace rondo::schedule
