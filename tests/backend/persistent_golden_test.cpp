// The text of persistent kernels that reduce over the head, or have per-head values, character for character.
#include <gtest/gtest.h>

#include "compiler/backend/cuda/emit.h"
#include "compiler/schedule/strategies.h"
#include "tests/backend/golden_text.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/over_head_cells.h"
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

// The sweep of a cell with an input and a state of one value a head, whose gradient is the only sum that
// blocks exchange, and the sum of their shares of the input's gradient.
TEST(PersistentGolden, NumbersOfAHead) {
  const step::Cell cell = cells_of_text(R"(
cell shifted(D) {
  input x[D], m
  param R[D, D]
  state h[D], n
  next n = m * n
  next h = R @ h + n * x + m
  output h
}
)")
                              .front();
  Problem problem;
  problem.sizes = {8, 16, 1, 40};
  problem.pass = Pass::Backward;
  const KernelPlan plan =
      point_plan(*find_strategy("persistent"), cell, problem, persistent_point(problem, 2, 0, 0, false));
  std::vector<const kernel::Kernel*> kernels;
  for (const Launch& launch : plan.launches)
    if (launch.kernel.name == "shifted_persistent_bw" || launch.kernel.name == "shifted_grad_m")
      kernels.push_back(&launch.kernel);
  ASSERT_EQ(kernels.size(), 2u);
  backend::compare_golden("cuda/numbers_persistent.cu", backend::cuda::emit(kernels));
}

}  // namespace
}  // namespace rondo::schedule
