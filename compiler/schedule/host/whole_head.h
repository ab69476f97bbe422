// Cells without matrices that reduce over the head, on CPUs.
#pragma once

#include "compiler/schedule/host/parameters.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/sweep/sweep.h"

namespace rondo::schedule {

// The launch that walks over all steps. A block has all channels of a head of one batch row: it walks over
// them once for each stage of a step (step_stages.h), and what it carries lies in memory of its own.
Launch host_whole_head(const Task& task, const Sweep& sweep, const HostParameters& parameters);

}  // namespace rondo::schedule
