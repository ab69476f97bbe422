// The text of a persistent kernel that reduces over the head, character for character.
#include <gtest/gtest.h>

#include "compiler/backend/cuda/emit.h"
#include "compiler/schedule/strategies.h"
#include "tests/backend/golden_text.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/persistent/dense_points.h"
#include "tests/schedule/point_plan.h"

namespace rondo::schedule {
namespace {

// Forward, in a cluster of two, with channels past the head's end.
TEST(PersistentGolden, LayerNormalisedGru) {
  Problem problem;
  problem.sizes = {8, 16, 1, 40};
  problem.pass = Pass::Forward;
  const KernelPlan plan = point_plan(*find_strategy("persistent"), cell_named("lngru"), problem,
                                     persistent_point(problem, 2, 0, 0, false));
  ASSERT_EQ(plan.launches.size(), 1u);
  backend::compare_golden("cuda/lngru_persistent.cu", backend::cuda::emit({&plan.launches[0].kernel}));
}

}  // namespace
}  // namespace rondo::schedule
