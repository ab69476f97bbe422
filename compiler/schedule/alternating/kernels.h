// The kernels of an alternating sweep over time.
#pragma once

#include <vector>

#include "compiler/schedule/alternating/geometry.h"
#include "compiler/schedule/analysis/step_stages.h"
#include "compiler/schedule/analysis/sweep.h"
#include "compiler/schedule/plan/kernel_plan.h"

namespace rondo::schedule {

// Everything the sweep of one pass is built from.
struct AlternatingSweep {
  const step::Cell& cell;
  const Problem& problem;
  AlternatingGeometry geometry;
  Sweep sweep;
  StepStages stages;
};

// Before the steps: the matrices in the order in which they are multiplied, one launch a group of products.
std::vector<Launch> alternating_pack(const AlternatingSweep& sweep);
// Carries at their beginning, and stage 0 of the first step.
Launch alternating_first(const AlternatingSweep& sweep);
// The launches of a step: one a stage that begins with products. The last launch goes on with stage 0 of the
// next step, whose carries are known by then; in the last step it stores the last states.
std::vector<Launch> alternating_steps(const AlternatingSweep& sweep);

// What they need of the workspace.
void add_extents(const AlternatingSweep& sweep, KernelPlan& plan);

}  // namespace rondo::schedule
