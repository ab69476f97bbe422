// Tiles of the batch that a block of a grid walks in turn: against the fp64 reference, against the same rows
// walked one tile a block, and without what orders them.
#include <gtest/gtest.h>

#include "compiler/constraint/solver.h"
#include "compiler/frontend/frontend.h"
#include "compiler/step/forms.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/damage.h"
#include "tests/schedule/drawn_for.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

const Strategy* const kStrategyOfTurns = find_strategy("persistent");

Parameters point_in_turn(const Problem& problem, int tiles_in_turn, int batch_tiles = 1) {
  return {{"blocks", 4},
          {"exchange", 1},
          {"reduce_scatter", 0},
          {"cluster_k_split", 1},
          {"setmaxnreg", 0},
          {"batch_tiles_in_flight", 2},
          {"split_k", 2},
          {"unit_blocks", 1},
          {"batch_tiles", batch_tiles},
          {"tiles_in_turn", tiles_in_turn},
          {"register_k_tiles", 1},
          {"accumulators", 2},
          {"steps", 2},
          {"stages", 3},
          {"vector", 16 / kernel::storage_bytes(problem.storage)},
          {"producer_warps", 1},
          {"store_warps", 1},
          {"poll_delay", 0}};
}

Case case_in_turn(const step::Cell& cell, const step::Sizes& sizes, int tiles_in_turn, int batch_tiles = 1,
                  Storage storage = Storage::BF16) {
  Case c{kStrategyOfTurns, cell, {}, {}, {}, true};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.parameters = point_in_turn(c.problem, tiles_in_turn, batch_tiles);
  c.backward = point_in_turn(c.problem, 1);
  return c;
}

void compare_in_turn(Case c) {
  SCOPED_TRACE(c.name());
  Comparison(std::move(c)).run();
}

// A last tile of some rows, of none, and a block that has none of its second tile.
TEST(TilesInTurn, EveryCell) {
  int number = 0;
  for (const step::Cell& cell : dense_cells()) {
    const std::int64_t batches[] = {11, 17, 9, 35};
    const int turn = number++;
    if (!rondo::testing::has_turn(turn, 8)) continue;
    const bool four = turn % 2 == 1;
    compare_in_turn(case_in_turn(cell, {batches[turn % 4], 5, turn % 3 == 0 ? 2 : 1, turn % 3 == 1 ? 72 : 64},
                                 four ? 4 : 2, four ? 1 : 2,
                                 turn / 2 % 2 == 0 ? Storage::BF16 : Storage::F32));
    ASSERT_FALSE(HasFailure()) << cell.name;
  }
}

// What there is of it: gates, a normaliser with a maximum, two levels of products, reductions over the head.
TEST(TilesInTurn, CellsOfEachKind) {
  for (const char* name : {"lstm", "slstm", "mgu", "lnlstm"}) {
    compare_in_turn(case_in_turn(cell_named(name), {11, 5, 1, 64}, 2));
    ASSERT_FALSE(HasFailure()) << name;
  }
}

// A gate that waits for no carry is made while the tile before waits for its products.
constexpr const char* kAhead = R"(
cell ahead(D) {
  input x[2, D]
  param R[D, D]
  state h[D]
  z = sigmoid(x[1])
  next h = (1 - z) * h + z * tanh(R @ h + x[0])
  output h
})";

TEST(TilesInTurn, TheNextTilesValuesAreMadeAhead) {
  const step::Cell cell = frontend::parse(kAhead, "ahead.cell").cells.at(0);
  compare_in_turn(case_in_turn(cell, {11, 5, 1, 64}, 2));
  compare_in_turn(case_in_turn(step::with_forms(cell, {true}).value(), {27, 5, 1, 64}, 4));
}

// A block walks as many steps as the longest row of all its tiles has.
TEST(TilesInTurn, AWalkEndsWithTheLongestRowOfAllTiles) {
  for (const std::size_t longest : {0, 10}) {
    Case c = case_in_turn(step::with_forms(cell_named("elman"), {false, true}).value(), {11, 7, 1, 64}, 2);
    c.flags["lengths"] = std::vector<double>(11, 2);
    c.flags["lengths"][longest] = 4;
    compare_in_turn(std::move(c));
  }
}

// Longer than the ring of words, whose places are used again.
TEST(TilesInTurn, ManySteps) { compare_in_turn(case_in_turn(cell_named("elman"), {27, 40, 1, 64}, 4)); }

TEST(TilesInTurn, FormsOfTheSequence) {
  int number = 0;
  for (const step::Forms& forms :
       {step::Forms{true, true}, {true, true, true}, {true, true, false, false, true}}) {
    if (!rondo::testing::has_turn(++number)) continue;
    compare_in_turn(case_in_turn(step::with_forms(cell_named("lstm"), forms).value(), {13, 9, 2, 64}, 2));
    ASSERT_FALSE(HasFailure()) << number;
  }
}

// The same sums in the same order: the same bits.
TEST(TilesInTurn, RowsHaveTheBitsOfTheirOwnBlocks) {
  for (const Storage storage : {Storage::BF16, Storage::F32}) {
    Case c = case_in_turn(cell_named("gru"), {29, 7, 1, 64}, 1, 1, storage);
    c.problem.pass = Pass::ForwardSave;
    const TensorValues given = drawn_for(c);
    const auto results = [&](int tiles_in_turn) {
      const Parameters point = point_in_turn(c.problem, tiles_in_turn);
      const SimulatedRun run =
          simulate_plan(c.task(), point_plan(*kStrategyOfTurns, c.cell, c.problem, point), given);
      EXPECT_TRUE(run.faults.empty()) << run.faults.front();
      return run.written;
    };
    const TensorValues alone = results(1);
    for (const int tiles : {2, 4}) EXPECT_EQ(results(tiles), alone) << tiles;
  }
}

// Warps that only multiply run ahead of those that compute as far as the barriers let them: without one of
// these something is read too early or written too early, or nobody comes.
TEST(TilesInTurn, EveryMissingMeetingIsReported) {
  Case c = case_in_turn(cell_named("elman"), {9, 5, 1, 64}, 2);
  const KernelPlan whole = point_plan(*kStrategyOfTurns, c.cell, c.problem, c.parameters);
  const TensorValues given = drawn_for(c);
  EXPECT_TRUE(simulate_plan(c.task(), whole, given).faults.empty());
  int barriers = 1;
  for (int without = 0; without < barriers; ++without) {
    KernelPlan plan = whole;
    int seen = 0;
    drop<kernel::Barrier>(plan.launches.back().kernel, [&](const kernel::Barrier& barrier) {
      return barrier.id != 0 && seen++ == without;
    });
    barriers = seen;
    EXPECT_FALSE(simulate_plan(c.task(), plan, given).faults.empty()) << "without barrier " << without;
  }
  EXPECT_GT(barriers, 4);
}

constexpr const char* kSentLate = R"(
cell sent_late(D) {
  input x[D]
  param R[D, D]
  state h[D]
  next h = tanh(R @ (x * h))
  output h
})";

// By the number of tiles in turn: points of the space.
std::map<std::int64_t, int> points_by_turns(const step::Cell& cell, Pass pass, std::int64_t batch) {
  Problem problem;
  problem.sizes = {batch, 64, 1, 128};
  problem.pass = pass;
  const constraint::System space = kStrategyOfTurns->space({cell, problem, target::board("h200")});
  std::map<std::int64_t, int> points;
  (void)constraint::enumerate(space, [&](const constraint::Assignment& point) {
    Parameters parameters;
    for (std::size_t i = 0; i < space.names().variables.size(); ++i)
      parameters[space.names().variables[i].name] = point.values()[i];
    const std::int64_t tiles = parameters.at("tiles_in_turn");
    ++points[tiles];
    if (tiles == 1) return true;
    EXPECT_EQ(parameters.at("exchange"), 1);
    EXPECT_EQ(parameters.at("reduce_scatter"), 0);
    EXPECT_GT(parameters.at("split_k"), 1);
    EXPECT_LE(tiles * parameters.at("batch_tiles"), 4);
    return true;
  });
  return points;
}

TEST(TilesInTurn, OnlyWhereAVectorIsUnderWayMeanwhile) {
  const auto lstm = points_by_turns(cell_named("lstm"), Pass::Forward, 32);
  EXPECT_GT(lstm.at(2), 0);
  EXPECT_GT(lstm.at(4), 0);
  EXPECT_EQ(points_by_turns(cell_named("lstm"), Pass::Forward, 9).count(4), 0u) << "two tiles of rows";
  EXPECT_EQ(points_by_turns(cell_named("lstm"), Pass::Forward, 8).size(), 1u) << "one tile of rows";
  EXPECT_EQ(points_by_turns(cell_named("lstm"), Pass::Backward, 32).size(), 1u);
  const step::Cell late = frontend::parse(kSentLate, "late.cell").cells.at(0);
  EXPECT_EQ(points_by_turns(late, Pass::Forward, 32).size(), 1u);
}

}  // namespace
}  // namespace rondo::schedule
