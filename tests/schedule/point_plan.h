// Kernels of any point that a strategy can make, whether or not its space has it.
#pragma once

#include "compiler/schedule/plan/strategy.h"
#include "tests/pipeline/verifying.h"
#include "tests/target/board.h"

namespace rondo::schedule {

// Spaces have rules that only narrow the search; tests use smaller and odder points than those. Parameters
// that an earlier version had not are added, as build() does. Every pass on the way is verified.
inline KernelPlan point_plan(const Strategy& strategy, const step::Cell& cell, const Problem& problem,
                             const Parameters& parameters, const target::Profile& profile = target::board()) {
  pipeline::testing::Verifying verifying;
  return strategy.build_legal({cell, problem, profile, &verifying}, parameters).value();
}

}  // namespace rondo::schedule
