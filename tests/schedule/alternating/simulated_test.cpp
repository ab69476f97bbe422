// alternating, forward and backward, in the simulator against the fp64 reference.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/constraint/solver.h"
#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/over_head_cells.h"
#include "tests/schedule/persistent/dense_points.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

const Strategy* const kSimulated = find_strategy("alternating");

void run_all_sizes(Storage storage) {
  int turn = 0;
  for (const step::Cell& cell : dense_cells())
    for (const std::int64_t dim : {1, 40, 72}) {
      const std::int64_t batches[] = {1, 5, 17}, times[] = {1, 2, 9};
      if (!rondo::testing::has_turn(++turn, 5)) continue;
      Case c{kSimulated, cell, {}, {}, {}, false};
      c.problem.sizes = {batches[turn % 3], times[(turn / 3 + turn) % 3], turn % 2 + 1, dim};
      c.problem.storage = storage;
      c.problem.math = default_math(storage);
      c.parameters = alternating_point(c.problem, turn);
      c.reached_states = true;
      Comparison(std::move(c)).run();
      if (::testing::Test::HasFailure()) return;
    }
}

// One tile of a head, some, with parts of 16 and of 32 channels, and a last part without channels.
void run_over_head(Storage storage) {
  int turn = 0;
  std::vector<step::Cell> cells = reducing_cells_with_matrices();
  for (const char* name : {"lngru", "lnlstm", "rmslstm"}) cells.push_back(cell_named(name));
  for (const step::Cell& cell : cells)
    for (const std::int64_t dim : {1, 33, 130}) {
      const std::int64_t batches[] = {1, 5, 17}, times[] = {1, 2, 5};
      if (!rondo::testing::has_turn(++turn, 7)) continue;
      // Of one channel all rows, or a single rounding decides a norm of few numbers.
      const std::int64_t batch = dim == 1 ? 17 : batches[turn % 3];
      Case c{kSimulated, cell, {}, {}, {}, false};
      c.problem.sizes = {batch, times[(turn / 3 + turn) % 3], turn % 2 + 1, dim};
      c.problem.storage = storage;
      c.problem.math = default_math(storage);
      c.problem.save_products = turn % 8 == 0;
      c.parameters = alternating_point(c.problem, turn);
      Comparison(std::move(c)).run();
      ASSERT_FALSE(::testing::Test::HasFailure()) << cell.name;
    }
}

// Blocks of 64 channels hand on two parts each, of which the last has no channel.
TEST(AlternatingSimulated, ReductionsInBlocksOfTwoParts) {
  for (const step::Cell& cell : {cell_of_maxima(), cell_named("lnlstm")})
    for (const std::int64_t dim : {33, 90}) {
      Case c{kSimulated, cell, {}, {}, {}, false};
      c.problem.sizes = {3, 3, 1, dim};
      c.problem.storage = Storage::F32;
      c.problem.math = default_math(c.problem.storage);
      c.parameters = {{"units", 64}, {"batch_tiles", 1}, {"warps", 4}, {"stages", 2}, {"vector", 1}};
      Comparison(std::move(c)).run();
      ASSERT_FALSE(::testing::Test::HasFailure()) << cell.name << " " << dim;
    }
}

TEST(AlternatingSimulated, ReductionsAndHeadValuesBf16) { run_over_head(Storage::BF16); }
TEST(AlternatingSimulated, ReductionsAndHeadValuesFp32) { run_over_head(Storage::F32); }

// Points from all over the space, at a size that leaves a tail everywhere.
void run_points(const char* cell, Storage storage, int wanted) {
  Case c{kSimulated, cell_named(cell), {}, {}, {}, true};
  c.problem.sizes = {19, 2, 1, 72};
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.problem.pass = Pass::Backward;  // whose points have all parameters
  const auto profile = target::find_profile("h200");
  ASSERT_TRUE(profile);
  std::vector<Parameters> points;
  const constraint::System space = kSimulated->space({c.cell, c.problem, *profile});
  (void)constraint::enumerate(space, [&](const constraint::Assignment& point) {
    Parameters parameters;
    for (std::size_t i = 0; i < space.names().variables.size(); ++i)
      parameters[space.names().variables[i].name] = point.values()[i];
    points.push_back(std::move(parameters));
    return true;
  });
  std::mt19937 rng(5);
  std::shuffle(points.begin(), points.end(), rng);
  ASSERT_GE(points.size(), static_cast<std::size_t>(wanted));
  points.resize(static_cast<std::size_t>(wanted));
  int turn = 0;
  for (const Parameters& parameters : points) {
    if (!rondo::testing::has_turn(++turn, 2)) continue;
    c.parameters = parameters;
    Comparison(c).run();
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(AlternatingSimulated, PointsOfTheSpaceBf16) { run_points("lstm", Storage::BF16, 6); }
TEST(AlternatingSimulated, PointsOfTheSpaceFp32) { run_points("mgu", Storage::F32, 6); }

TEST(AlternatingSimulated, Bf16) { run_all_sizes(Storage::BF16); }
TEST(AlternatingSimulated, Fp16) { run_all_sizes(Storage::F16); }
TEST(AlternatingSimulated, Fp32) { run_all_sizes(Storage::F32); }

}  // namespace
}  // namespace rondo::schedule
