// Max-plus products of matrices that lie on the chip, in the simulator: small integers to the bit, real
// numbers against the fp64 reference. Backward blocks exchange the sums of what their channels have chosen.
#include <gtest/gtest.h>

#include "compiler/step/forms.h"
#include "compiler/step/simplify.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/exact_case.h"
#include "tests/schedule/max_plus_cells.h"
#include "tests/schedule/persistent/dense_points.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

constexpr Storage kStorages[] = {Storage::BF16, Storage::F32, Storage::F16};
constexpr int kTeams[][2] = {{1, 0}, {2, 0}, {3, 1}, {2, 1}};  // blocks, and whether they are part of a grid

// Rows of sums are shared out among warps in tiles of 16: a team of one block has two units a warp.
Parameters backward_point(const Problem& problem, int team, int turn) {
  const auto& [blocks, grid] = kTeams[team];
  Parameters parameters = persistent_point(problem, blocks, grid, turn, true);
  if (blocks == 1) parameters["unit_blocks"] = 2, parameters["split_k"] = 1;
  if (problem.save_products) parameters["steps"] = 2;
  parameters["register_k_tiles"] = turn % 2;
  return parameters;
}

TEST(PersistentMaxPlus, IntegersToTheBit) {
  int turn = 0;
  for (int team = 0; team < 4; ++team)
    for (const Storage storage : kStorages)
      for (const bool saved : {false, true}) {
        if (!rondo::testing::has_turn(++turn, 5)) continue;
        const auto& [blocks, grid] = kTeams[team];
        Problem problem;
        problem.storage = storage;
        problem.sizes = {5, 3, 2, turn % 2 == 0 ? 64 : 40};
        const Parameters parameters = persistent_point(problem, blocks, grid, turn, false);
        const Parameters backward = backward_point(problem, team, turn);
        SCOPED_TRACE(std::string(kernel::storage_name(storage)) + " " + print(parameters) + "; backward " +
                     print(backward));
        ExactCase("persistent", parameters, storage, {}, {kTropical, saved, problem.sizes},
                  default_math(storage))
            .backward(backward)
            .run();
      }
}

Case case_of(const step::Cell& cell, const step::Sizes& sizes, int turn) {
  Case c{find_strategy("persistent"), cell, {}, {}, {}, false};
  c.problem.sizes = sizes;
  c.problem.storage = Storage::F32;
  c.problem.math = default_math(Storage::F32);
  c.problem.save_products = turn % 3 == 1 && !product_tensors(step::simplify(cell)).empty();
  const auto& [blocks, grid] = kTeams[turn % 4];
  c.parameters = persistent_point(c.problem, blocks, grid, turn, false);
  c.backward = backward_point(c.problem, turn % 4, turn + 1);
  return c;
}

// With products of both kinds, whose channels past the end are multiplied, too.
TEST(PersistentMaxPlus, CellsAgreeWithTheReference) {
  int turn = 0;
  for (const step::Cell& cell : max_plus_cells())
    for (const std::int64_t dim : {33, 72}) {
      if (!rondo::testing::has_turn(++turn, 2)) continue;
      Comparison(case_of(cell, {turn % 3 == 0 ? 3 : 9, 3, 1, dim}, turn)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " " << dim;
    }
}

TEST(PersistentMaxPlus, FormsOfTheSequence) {
  int turn = 0;
  for (const step::Cell& plain : max_plus_cells())
    for (const step::Forms forms : {step::Forms{true, true, false}, step::Forms{true, true, true},
                                    step::Forms{true, true, false, false, true}}) {
      if (!rondo::testing::has_turn(++turn, 3)) continue;
      Case c = case_of(step::with_forms(plain, forms).value(), {5, 6, 2, 40}, turn);
      c.reached_states = true;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << plain.name;
    }
}

TEST(PersistentMaxPlus, SaysWhatItLeavesToOthers) {
  const step::Cell cell = max_plus_cells().front();
  Problem problem;
  EXPECT_TRUE(find_strategy("persistent")->legal({cell, problem, target::board()}).legal);
  problem.pass = Pass::Backward;
  EXPECT_TRUE(find_strategy("persistent")->legal({cell, problem, target::board()}).legal);
  problem.pass = Pass::Forward, problem.storage = Storage::F32, problem.math = kernel::Math::Tf32;
  const Legality rounded = find_strategy("persistent")->legal({cell, problem, target::board()});
  EXPECT_NE(rounded.reason.find("--math accurate"), std::string::npos) << rounded.reason;
}

}  // namespace
}  // namespace rondo::schedule
