// alternating where a step has more values than registers hold, so that each is read where it is used: all
// cells so, and a state of many rows, whose step has no other kernels backward.
#include <gtest/gtest.h>

#include "compiler/schedule/plan/tensor_layout.h"
#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/exact_case.h"
#include "tests/schedule/max_plus_cells.h"
#include "tests/schedule/over_head_cells.h"
#include "tests/schedule/persistent/dense_points.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

// Memories of 16 keys that meet one matrix and, as those of a delta rule do, each other; and per-head values
// of each.
constexpr const char* kRows = R"(
cell rows_of_state(D) {
  input q[16], k[16], v[D], f
  param W[D, D]
  state S[16, D]

  next S = f * S + (1 - f) * tanh(W @ S + k * (v - sum(k * S, rows)))
  output y = sum(q * next S, rows)
}
)";

// Two vectors of one stage that meet the same matrices, which lie in the ring once; one of a later stage; and
// one of another kind.
constexpr const char* kSameMatrices = R"(
cell same_matrices(D) {
  input x[2, D]
  param R[2, D, D]
  state h[2, D]

  g = R @ h[0]
  k = R @ h[1]
  m = R @ (g[0] + k[1])
  next h = [m[0] + x[0], g[1] - k[0] + m[1] + x[1]]
  output h, y = maxplus(R[0], h[1])
}
)";

Case case_of(const step::Cell& cell, const step::Sizes& sizes, Storage storage, int turn) {
  Case c{find_strategy("alternating"), cell, {}, {}, {}, false};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.problem.save_products = turn % 4 == 1 && !product_tensors(step::simplify(cell)).empty();
  c.parameters = alternating_point(c.problem, turn);
  c.parameters["reads_at_use"] = 1;
  c.reached_states = true;
  return c;
}

TEST(ReadsAtUse, CellsAgreeWithTheReference) {
  std::vector<step::Cell> cells = dense_cells();
  for (const step::Cell& cell : reducing_cells_with_matrices()) cells.push_back(cell);
  for (const char* name : {"lnlstm", "rmslstm", "onlstm"}) cells.push_back(cell_named(name));
  int turn = 0;
  for (const step::Cell& cell : cells)
    for (const Storage storage : {Storage::BF16, Storage::F32}) {
      if (!rondo::testing::has_turn(++turn, 5)) continue;
      const step::Sizes sizes{turn % 3 == 0 ? 9 : 3, turn % 2 == 0 ? 4 : 1, 2, turn % 4 == 3 ? 33 : 40};
      Comparison(case_of(cell, sizes, storage, turn)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " " << turn;
    }
}

TEST(ReadsAtUse, IntegersToTheBit) {
  int turn = 0;
  for (const char* text : {kLinear, kTropical, kSameMatrices})
    for (const bool saved : {false, true})
      for (const Storage storage : {Storage::BF16, Storage::F32}) {
        if (!rondo::testing::has_turn(++turn, 4)) continue;
        Problem problem;
        problem.storage = storage;
        problem.sizes = {5, 3, 2, 40};
        if (text == kSameMatrices) problem.sizes = {5, 2, 2, 24};  // or sums leave the integers of bf16
        Parameters parameters = alternating_point(problem, turn);
        parameters["reads_at_use"] = 1;
        ExactCase("alternating", parameters, storage, {}, {text, saved, problem.sizes}, default_math(storage))
            .run();
      }
}

// By the points that its space has, which read at use alone.
TEST(ReadsAtUse, AStateOfManyRowsHasKernelsOfBothPasses) {
  const step::Cell cell = cells_of_text(kRows).front();
  const Strategy& alternating = *find_strategy("alternating");
  int turn = 0;
  for (const Storage storage : {Storage::BF16, Storage::F32, Storage::F16})
    for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
      Problem problem;
      problem.sizes = {8, 64, 2, 128};
      problem.storage = storage;
      problem.math = default_math(storage);
      problem.pass = pass;
      const Parameters first = first_point(alternating, cell, problem);
      ASSERT_TRUE(first.contains("reads_at_use")) << print(first);
      EXPECT_EQ(first.at("reads_at_use"), 1);
    }
  Problem problem;
  problem.sizes = {8, 64, 2, 128};
  const KernelPlan plan = point_plan(alternating, cell, problem, first_point(alternating, cell, problem));
  const auto packs = std::ranges::count_if(plan.launches, [](const Launch& launch) {
    return launch.kernel.name.find("_pack_") != std::string::npos;
  });
  EXPECT_EQ(packs, 1) << "all rows meet one matrix";
  for (const Storage storage : {Storage::BF16, Storage::F32}) {
    if (!rondo::testing::has_turn(++turn, 2)) continue;
    Comparison(case_of(cell, {3, 3, 1, 24}, storage, turn)).run();
    ASSERT_FALSE(HasFailure()) << turn;
  }
}

TEST(ReadsAtUse, AStepThatFitsReadsAhead) {
  Problem problem;
  problem.pass = Pass::Backward;
  problem.sizes = {8, 64, 1, 128};
  for (const char* name : {"lstm", "slstm", "lnlstm", "viterbi"})
    EXPECT_FALSE(
        first_point(*find_strategy("alternating"), cell_named(name), problem).contains("reads_at_use"))
        << name;
}

}  // namespace
}  // namespace rondo::schedule
