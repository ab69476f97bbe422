// Heads that a cluster of blocks holds together, in the simulator against the fp64 reference.
#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "compiler/constraint/explain.h"
#include "compiler/constraint/solver.h"
#include "compiler/step/forms.h"
#include "tests/schedule/stream/head_cases.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

// Heads of two warps to 17, whose last block has fewer channels than the others, or warps without any.
void run_clusters(Storage storage) {
  int turn = 0;
  for (const step::Cell& cell : head_cells())
    for (const auto& [dim, each, blocks] :
         {std::tuple{33, 1, 2}, {130, 1, 2}, {250, 2, 4}, {240, 1, 8}, {800, 4, 4}, {1000, 2, 16}})
      for (const std::int64_t time : {1, 2, 7}) {
        Case c = case_of_head(cell, storage, {turn % 2 + 1, time, ++turn % 2 + 1, dim});
        c.parameters = cluster_point(c.problem, each, blocks, 1 << turn % 3, 1);
        Comparison(std::move(c)).run();
        ASSERT_FALSE(::testing::Test::HasFailure()) << cell.name << " D=" << dim << " T=" << time;
      }
}

TEST(HeadInCluster, AwkwardSizesBf16) { run_clusters(Storage::BF16); }
TEST(HeadInCluster, AwkwardSizesFp16) { run_clusters(Storage::F16); }
TEST(HeadInCluster, AwkwardSizesFp32) { run_clusters(Storage::F32); }

// More channels than a block takes, odd numbers of them too; words of more warps than a warp has lanes.
TEST(HeadInCluster, LargeHeads) {
  int turn = 0;
  for (const step::Cell& cell : head_cells())
    for (const auto& [storage, dim, each, blocks] : {std::tuple{Storage::BF16, 5000, 8, 2},
                                                     {Storage::F32, 8192, 8, 4},
                                                     {Storage::F16, 4097, 1, 8},
                                                     {Storage::F32, 4834, 2, 16},
                                                     {Storage::F16, 65536, 8, 16}}) {
      if (!rondo::testing::has_turn(turn++)) continue;
      Case c = case_of_head(cell, storage, {1, 2, 1, dim});
      c.parameters = cluster_point(c.problem, each, blocks, 1, 1);
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " D=" << dim;
    }
}

TEST(HeadInCluster, ResetsLengthsAndReversedTime) {
  int turn = 0;
  for (const step::Cell& plain : head_cells())
    for (const step::Forms& forms : {step::Forms{true, false, false},
                                     {false, true, false},
                                     {false, true, true},
                                     {true, true, true, true}}) {
      const step::Cell cell = step::with_forms(plain, forms).value();
      const Storage storage = ++turn % 2 == 0 ? Storage::BF16 : Storage::F32;
      Case c = case_of_head(cell, storage, {5, 9, 1, 130});
      c.parameters = cluster_point(c.problem, 1 << turn % 2, 2, 4, 2);
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name;
    }
}

// The sums have the order that one block has, so splitting a head changes no bit.
TEST(HeadInCluster, HasTheBitsOfOneBlock) {
  for (const step::Cell& cell : head_cells()) {
    std::vector<Parameters> points;
    Case c = case_of_head(cell, Storage::F32, {2, 5, 1, 232});
    c.parameters = head_point(c.problem, 1, 2, 2, 1);
    std::vector<TensorValues> runs;
    c.runner = [&](const Task& task, const KernelPlan& plan, const TensorValues& values, int pad) {
      SimulatedRun run = simulate_plan(task, plan, values, pad);
      runs.push_back(run.written);
      return run;
    };
    Comparison(c).run();
    const auto alone = runs;
    runs.clear();
    c.parameters = cluster_point(c.problem, 1, 4, 2, 1);
    Comparison(c).run();
    ASSERT_FALSE(HasFailure()) << cell.name;
    EXPECT_TRUE(runs == alone) << cell.name;
  }
}

TEST(HeadInCluster, PointsOfTheSpace) {
  std::mt19937 rng(11);
  for (const step::Cell& cell : head_cells())
    for (const std::int64_t dim : {40, 99, 520}) {
      Case c = case_of_head(cell, Storage::BF16, {2, 6, 2, dim});
      const auto split = [&] {
        for (;;)
          if (Parameters point = some_point(cell, c.problem, rng); point["head_split"] > 1) return point;
      };
      c.problem.pass = Pass::Backward;
      c.backward = split();
      c.problem.pass = Pass::ForwardSave;
      c.parameters = split();
      const auto built = stream_of_heads().build({cell, c.problem, target::board()}, c.parameters);
      ASSERT_TRUE(built) << built.error().message;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " D=" << dim;
    }
}

Parameters models_choice(const step::Cell& cell, const step::Sizes& sizes) {
  Problem problem;
  problem.sizes = sizes;
  const step::Cell simple = step::simplify(cell);
  const constraint::System space = stream_of_heads().space({simple, problem, target::board()});
  const CostModel cost = stream_of_heads().cost_model({simple, problem, target::board()});
  Parameters best;
  double seconds = 1e9;
  (void)constraint::enumerate(space, [&](const constraint::Assignment& at) {
    Parameters point;
    for (std::size_t i = 0; i < at.values().size(); ++i)
      point[space.names().variables[i].name] = at.values()[i];
    if (const double now = cost(point).seconds; now < seconds) best = point, seconds = now;
    return true;
  });
  return best;
}

// One large head leaves the other SMs idle unless a cluster shares it; many small ones fill the GPU.
TEST(HeadInCluster, TheModelSplitsHeadsWhereFewLeaveSmsIdle) {
  for (const step::Cell& cell : head_cells()) {
    EXPECT_GT(models_choice(cell, {1, 1024, 1, 4096}).at("head_split"), 1) << cell.name;
    EXPECT_EQ(models_choice(cell, {64, 1024, 12, 64}).at("head_split"), 1) << cell.name;
    EXPECT_GE(models_choice(cell, {1, 64, 1, 16384}).at("head_split"), 4) << cell.name;
  }
}

TEST(HeadInCluster, GpusWithoutClustersRefuseLargerHeads) {
  Problem problem;
  problem.sizes = {1, 64, 1, 8192};
  const step::Cell cell = step::simplify(head_cells().front());
  for (const char* board : {"a100", "a10"}) {
    const auto why = constraint::explain(stream_of_heads().space({cell, problem, target::board(board)}));
    ASSERT_TRUE(why) << why.error().message;
    EXPECT_NE(why->text.find("thread blocks of a cluster (sm_90 and later)"), std::string::npos) << why->text;
    EXPECT_NE(why->text.find("channels a block holds"), std::string::npos) << why->text;
  }
  const auto here = constraint::find_first(stream_of_heads().space({cell, problem, target::board()}));
  EXPECT_TRUE(here && here->solution);
}

}  // namespace
}  // namespace rondo::schedule
