// Clipped recurrences, forward and backward, in the simulator against the fp64 reference: what
// step::clipped() does to the step reaches every strategy.
#include <gtest/gtest.h>

#include "compiler/schedule/strategies.h"
#include "compiler/step/clip.h"
#include "compiler/step/structure.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/first_point.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

// Both act on a good part of the steps of every cell; they are numbers of every storage type.
constexpr step::Clip kClips[] = {{0.25, {}}, {{}, 0.25}, {0.25, 0.25}};

void run(const Strategy& strategy, const step::Cell& cell, Storage storage, const step::Sizes& sizes) {
  Case c{&strategy, cell, {}, {}, {}, true};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.problem.pass = Pass::Backward;  // its space is another one
  if (strategy.legal({cell, c.problem, {}}).legal) c.backward = first_point(strategy, cell, c.problem);
  c.problem.pass = Pass::ForwardSave;
  c.parameters = first_point(strategy, cell, c.problem);
  Comparison(std::move(c)).run();
}

TEST(ClipSimulated, EveryCellOfEveryStrategy) {
  int runs = 0, number = 0;
  for (const step::Cell& plain : all_cells())
    for (const Strategy* strategy : strategies()) {
      const step::Structure structure = step::analyze(plain);
      // A channel that rounding moves over the bound moves a whole head where the step reduces over it.
      const bool rounded = structure.has_matrix && !structure.has_reduction;
      const Storage storage = rounded ? Storage::BF16 : Storage::F32;
      Problem problem;
      problem.storage = storage;
      if (!strategy->legal({plain, problem, {}}).legal) continue;
      for (const step::Clip& clip : kClips) {
        const step::Cell cell = step::clipped(plain, clip).value();
        ASSERT_TRUE(strategy->legal({cell, problem, {}}).legal)
            << cell.name << ": clipping must not change it";
        ++runs;
        if (!rondo::testing::has_turn(number++, 4)) continue;
        run(*strategy, cell, storage, {5, 9, 1, 40});
        ASSERT_FALSE(HasFailure()) << strategy->name() << " " << step::describe_clip(cell);
      }
    }
  EXPECT_GE(runs, 3 * static_cast<int>(all_cells().size()));
}

// The clamp of a carry has no affine map, so time cannot be cut where it is.
TEST(ClipSimulated, SegmentsOnlyWhereTheSweepStaysAffine) {
  Problem problem;
  const step::Cell plain = cell_named("mingru");
  const step::Cell forward = step::clipped(plain, {1.0, {}}).value();
  const step::Cell gradient = step::clipped(plain, {{}, 1.0}).value();
  const auto parts = [&](const step::Cell& cell, Pass pass) {
    problem.pass = pass;
    return segment_parts({cell, problem, {}});
  };
  EXPECT_GT(parts(plain, Pass::Forward), 0);
  EXPECT_EQ(parts(forward, Pass::Forward), 0);
  EXPECT_GT(parts(forward, Pass::Backward), 0);
  EXPECT_GT(parts(gradient, Pass::Forward), 0);
  EXPECT_EQ(parts(gradient, Pass::Backward), 0);
}

}  // namespace
}  // namespace rondo::schedule
