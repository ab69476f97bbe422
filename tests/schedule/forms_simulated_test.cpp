// Resets, lengths and reversed time, forward and backward, in the simulator against the fp64 reference: what
// step::with_forms() does to the step reaches every strategy.
#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "compiler/kernel/ir/print.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/clip.h"
#include "compiler/step/forms.h"
#include "compiler/step/structure.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/first_point.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

constexpr step::Forms kForms[] = {{true, false, false},
                                  {false, true, false},
                                  {true, true, false},
                                  {false, false, true},
                                  {true, true, true},
                                  {true, false, false, true},
                                  {true, true, true, true},
                                  {false, false, false, false, true},
                                  {true, true, false, true, true}};

// Heads of a case: halves walk in two directions.
std::int64_t heads_of(const step::Cell& cell, std::int64_t heads) {
  return step::forms_of(cell).directions ? 2 * heads : heads;
}

// Lengths, in each direction and in both.
constexpr step::Forms kLengthsBothWays[] = {
    {false, true, false}, {false, true, true}, {false, true, false, false, true}};

// Both passes at the first point of their spaces.
Case case_of(const Strategy& strategy, const step::Cell& cell, Storage storage, const step::Sizes& sizes) {
  Case c{&strategy, cell, {}, {}, {}, true};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.problem.pass = Pass::Backward;
  if (strategy.legal({cell, c.problem, {}}).legal) c.backward = first_point(strategy, cell, c.problem);
  c.problem.pass = Pass::ForwardSave;
  c.parameters = first_point(strategy, cell, c.problem);
  return c;
}

TEST(FormsSimulated, EveryCellOfEveryStrategy) {
  int runs = 0;
  for (const step::Cell& plain : all_cells())
    for (const Strategy* strategy : strategies()) {
      const Storage storage = step::analyze(plain).has_matrix ? Storage::BF16 : Storage::F32;
      Problem problem;
      problem.storage = storage;
      if (!strategy->legal({plain, problem, {}}).legal) continue;
      for (const step::Forms& forms :
           {step::Forms{true, true, true}, {true, true, true, true}, {true, true, false, false, true}}) {
        const step::Cell cell = step::with_forms(plain, forms).value();
        ASSERT_TRUE(strategy->legal({cell, problem, {}}).legal) << cell.name << ": forms must not change it";
        Comparison(case_of(*strategy, cell, storage, {5, 9, heads_of(cell, 1), 40})).run();
        ASSERT_FALSE(HasFailure()) << strategy->name() << " " << cell.name;
      }
      ++runs;
    }
  EXPECT_GE(runs, static_cast<int>(all_cells().size()));
}

// One channel, and more than tiles hold; tiles of the batch that are partly empty.
TEST(FormsSimulated, AwkwardSizes) {
  int turn = 0;
  for (const char* name : {"mingru", "indrnn", "lstm", "gru"})
    for (const Strategy* strategy : strategies())
      for (const std::int64_t dim : {1, 33, 130})
        for (const std::int64_t time : {1, dim == 130 ? 4 : 7}) {
          const step::Cell cell =
              step::with_forms(cell_named(name), kForms[++turn % std::size(kForms)]).value();
          const Storage storage = turn % 2 == 0 ? Storage::BF16 : Storage::F32;
          Problem problem;
          problem.storage = storage;
          if (!strategy->legal({cell, problem, {}}).legal || !rondo::testing::has_turn(turn, 5)) continue;
          Comparison(
              case_of(*strategy, cell, storage, {turn % 5 + 5, time, heads_of(cell, turn % 2 + 1), dim}))
              .run();
          ASSERT_FALSE(HasFailure()) << strategy->name() << " " << cell.name;
        }
}

// Resets at no step, at the first, at the last and at all.
TEST(FormsSimulated, ResetsAtTheEnds) {
  const std::int64_t batch = 3, time = 6;
  for (const char* name : {"mingru", "lstm"})
    for (const Strategy* strategy : strategies()) {
      const step::Cell cell = step::with_forms(cell_named(name), {true, false, false}).value();
      if (!strategy->legal({cell, Problem{}, {}}).legal) continue;
      for (const int where : {0, 1, 2, 3}) {
        Case c = case_of(*strategy, cell, Storage::BF16, {batch, time, 2, 33});
        std::vector<double>& resets = c.flags["resets"];
        for (std::int64_t i = 0; i < batch * time; ++i) {
          const std::int64_t t = i % time;
          resets.push_back(where == 3 || (where == 1 && t == 0) || (where == 2 && t == time - 1) ? 1 : 0);
        }
        Comparison(std::move(c)).run();
        ASSERT_FALSE(HasFailure()) << strategy->name() << " " << cell.name << " " << where;
      }
    }
}

// Resets are loaded ahead, by windows of steps or by stages: walks of several, ends within one, forms of
// teams.
TEST(FormsSimulated, ResetsOfManySteps) {
  for (const std::int64_t time : {8, 9, 37}) {
    const step::Forms forms{true, false, false, time == 37};
    for (const auto& [blocks, exchange, tiles] : {std::tuple{1, 0, 2}, {2, 0, 1}, {2, 1, 1}}) {
      Case c = case_of(*find_strategy("persistent"), step::with_forms(cell_named("elman"), forms).value(),
                       Storage::BF16, {11, time, 1, 40});
      for (Parameters* point : {&c.parameters, &c.backward})
        for (const auto& [name, value] :
             {std::pair{"blocks", blocks}, {"exchange", exchange}, {"batch_tiles", tiles}})
          (*point)[name] = value;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << "persistent, " << blocks << " blocks, T = " << time;
    }
    for (const auto& [channels, producers, pieces] : {std::tuple{8, 0, 0}, {32, 1, 0}, {40, 0, 1}}) {
      Case c = case_of(*find_strategy("stream"), step::with_forms(cell_named("indrnn"), forms).value(),
                       Storage::BF16, {3, time, 2, 40});
      for (Parameters* point : {&c.parameters, &c.backward})
        for (const auto& [name, value] : {std::pair{"channels", channels},
                                          {"steps", 8},
                                          {"unroll", 4},
                                          {"segments", 1},
                                          {"producer_warps", producers},
                                          {"vector", 4},
                                          {"interleaved_copies", pieces}})
          (*point)[name] = value;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << "stream, " << channels << " channels, T = " << time;
    }
  }
}

// Rows that are all shorter than T, and rows of no step at all: the walk ends before T, and what it leaves
// out is written all the same.
TEST(FormsSimulated, AWalkEndsWithItsLongestRow) {
  const std::vector<std::vector<double>> of_rows = {{2, 5, 0, 3, 1}, {0, 0, 0, 0, 0}, {-3, 1, 1, 1, 1}};
  int turn = 0;
  for (const char* name : {"mingru", "indrnn", "lstm", "gru"})
    for (const Strategy* strategy : strategies())
      for (const step::Forms& forms : kLengthsBothWays)
        for (const std::vector<double>& lengths : of_rows) {
          const step::Cell cell = step::with_forms(cell_named(name), forms).value();
          if (!strategy->legal({cell, Problem{}, {}}).legal || !rondo::testing::has_turn(++turn, 4)) continue;
          Case c = case_of(*strategy, cell, Storage::BF16, {5, 11, 2, 33});
          c.flags["lengths"] = lengths;
          Comparison(std::move(c)).run();
          ASSERT_FALSE(HasFailure()) << strategy->name() << " " << cell.name << " " << lengths.front();
        }
}

// One row outlasts all others, at each place of the tiles that blocks have of a batch: the first and the last
// of a full one, and those of one that is partly empty.
TEST(FormsSimulated, TheLongestRowLiesAnywhereInATile) {
  constexpr std::int64_t kBatch = 11, kLast = kBatch - 1, kTile = 8;
  int turn = 0;
  for (const char* name : {"lstm", "mingru"})
    for (const Strategy* strategy : strategies())
      for (const step::Forms& forms : kLengthsBothWays) {
        const step::Cell cell = step::with_forms(cell_named(name), forms).value();
        if (!strategy->legal({cell, Problem{}, {}}).legal) continue;
        for (std::int64_t longest = 0; longest < kBatch; ++longest) {
          const bool edge = longest == 0 || longest == kTile - 1 || longest == kTile || longest == kLast;
          const bool tiles = strategy->name() == "persistent";
          if (!rondo::testing::has_turn(++turn, edge && tiles ? 1 : 16)) continue;
          Case c = case_of(*strategy, cell, Storage::BF16, {kBatch, 9, heads_of(cell, 1), 16});
          std::vector<double> lengths(kBatch, 2);
          lengths[static_cast<std::size_t>(longest)] = 7;
          c.flags["lengths"] = lengths;
          Comparison(std::move(c)).run();
          ASSERT_FALSE(HasFailure()) << strategy->name() << " " << cell.name << ", row " << longest;
        }
      }
}

// A step is made by launches that know no lengths; what it multiplies for rows that are past their end is
// nothing.
TEST(FormsSimulated, AStepOfNoRowMultipliesNothing) {
  for (const bool lengths : {false, true})
    for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward}) {
      const step::Cell cell =
          step::with_forms(cell_named("lstm"), {true, lengths, pass == Pass::Forward}).value();
      Problem problem;
      problem.sizes = {5, 9, 1, 40};
      problem.pass = pass;
      const Strategy& alternating = *find_strategy("alternating");
      const auto plan = point_plan(alternating, cell, problem, first_point(alternating, cell, problem));
      int stopping = 0;
      for (const Launch& launch : plan.launches)
        if (kernel::print(launch.kernel).find("any ? count : 0") != std::string::npos) ++stopping;
      EXPECT_EQ(stopping, lengths ? 1 : 0);
    }
}

// What is affine stays so, so that time is still cut in segments and among blocks.
TEST(FormsSimulated, TimeIsCutInSegments) {
  for (const char* name : {"mingru", "hgrn"})
    for (const step::Forms& forms : kForms) {
      const step::Cell cell = step::with_forms(cell_named(name), forms).value();
      Problem problem;
      for (const Pass pass : {Pass::Forward, Pass::Backward}) {
        problem.pass = pass;
        EXPECT_GT(segment_parts({cell, problem, {}}), 0) << name;
      }
      for (const int turn : {0, 1, 2, 3}) {
        Case c{find_strategy("stream"), cell, {}, {}, {}, false};
        c.problem.sizes = {4, 37, heads_of(cell, 1), 64};
        c.problem.storage = Storage::F32;
        c.problem.math = kernel::Math::Accurate;
        c.parameters = stream_in_cluster_of_two(64, turn % 2 == 1);
        c.parameters["exchange"] = turn / 2;  // teams of the grid share a table of what they send
        c.parameters["rewrite"] = 0;
        c.parameters["vector"] = 4;
        Comparison(std::move(c)).run();
        ASSERT_FALSE(HasFailure()) << name;
      }
    }
}

TEST(FormsSimulated, WithClippingAndSavedProducts) {
  const step::Cell clipped = step::clipped(cell_named("lstm"), {0.25, 0.25}).value();
  const step::Cell cell = step::with_forms(clipped, {true, true, false}).value();
  for (const char* name : {"persistent", "alternating"}) {
    Case c = case_of(*find_strategy(name), cell, Storage::BF16, {5, 9, 1, 40});
    Comparison(c).run();
    c.problem.save_products = true;
    Comparison(std::move(c)).run();
  }
}

}  // namespace
}  // namespace rondo::schedule
