// What an alternating sweep over time has beside the launches of each step.
#pragma once

#include <vector>

#include "compiler/schedule/alternating/geometry.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/stepwise/sweep.h"

namespace rondo::schedule {

// Everything the sweep of one pass is built from.
struct AlternatingSweep : StepwiseSweep {
  AlternatingGeometry geometry;
};

// Before the steps: the matrices in the order in which they are multiplied, one launch a group of products
// that has some.
std::vector<Launch> alternating_pack(const AlternatingSweep& sweep);
}  // namespace rondo::schedule
