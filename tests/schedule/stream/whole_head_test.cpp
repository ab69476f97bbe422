// Cells that reduce over the head, or that have states and outputs with one value a head, in the simulator
// against the fp64 reference.
#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "compiler/schedule/strategies.h"
#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/schedule/stream/resources.h"
#include "compiler/step/forms.h"
#include "compiler/step/simplify.h"
#include "tests/schedule/stream/head_cases.h"
#include "tests/step/random_cell.h"

namespace rondo::schedule {
namespace {

void run_head_sizes(Storage storage) {
  int turn = 0;
  for (const step::Cell& cell : head_cells())
    for (const std::int64_t dim : {1, 33, 130, 1000})
      for (const std::int64_t time : {1, 2, 19}) {
        Case c = case_of_head(cell, storage,
                              {turn % 3 + 1, dim == 1000 ? (time + 3) / 4 : time, ++turn % 2 + 1, dim});
        c.parameters = head_point(c.problem, 1 << turn % 4, 1 << turn % 3, 2 + turn % 3, 1 << turn % 2);
        if (c.parameters["unroll"] > c.parameters["steps"]) c.parameters["unroll"] = 1;
        Comparison(std::move(c)).run();
        ASSERT_FALSE(::testing::Test::HasFailure()) << cell.name << " D=" << dim << " T=" << time;
      }
}

TEST(WholeHead, AwkwardSizesBf16) { run_head_sizes(Storage::BF16); }
TEST(WholeHead, AwkwardSizesFp16) { run_head_sizes(Storage::F16); }
TEST(WholeHead, AwkwardSizesFp32) { run_head_sizes(Storage::F32); }

// Blocks of several heads, some of them of heads that do not exist: parts of a warp, a warp, more than one.
TEST(WholeHead, SeveralHeadsOfABlock) {
  int turn = 0;
  for (const step::Cell& plain : head_cells())
    for (const auto& [dim, lanes, each] :
         {std::tuple{1, 1, 1}, {6, 4, 2}, {24, 8, 4}, {33, 64, 1}, {96, 16, 8}})
      for (const std::int64_t of_row : {3, 32 / std::min(lanes, 32), 9}) {
        const step::Forms forms = ++turn % 2 == 0 ? step::Forms{true, true, false} : step::Forms{};
        const step::Cell cell = step::with_forms(plain, forms).value();
        Case c = case_of_head(cell, turn % 3 == 0 ? Storage::F32 : Storage::BF16, {2, 7, of_row, dim});
        c.parameters = head_point(c.problem, each, 4, 2, 1 << turn % 2, std::max(2, 32 / lanes));
        c.parameters["channels"] = lanes * c.parameters["per_thread"];
        if (c.parameters["per_thread"] != each) continue;
        Comparison(std::move(c)).run();
        ASSERT_FALSE(HasFailure()) << cell.name << " D=" << dim << " H=" << of_row;
      }
}

// As many channels as a block takes; words of more warps than one thread reads.
TEST(WholeHead, LargestHeads) {
  for (const step::Cell& cell : head_cells())
    for (const auto& [storage, dim, each] : {std::tuple{Storage::BF16, 4096, 8},
                                             {Storage::F32, 4096, 8},
                                             {Storage::F32, 1023, 1},
                                             {Storage::F16, 2040, 4}}) {
      Case c = case_of_head(cell, storage, {1, 3, 1, dim});
      c.parameters = head_point(c.problem, each, 1, 2, 1);
      c.parameters["per_thread"] = each;
      c.parameters["channels"] = (dim + 32 * each - 1) / (32 * each) * 32 * each;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " D=" << dim;
    }
}

TEST(WholeHead, ResetsLengthsAndReversedTime) {
  int turn = 0;
  for (const step::Cell& plain : head_cells())
    for (const step::Forms& forms :
         {step::Forms{true, false, false}, {false, true, false}, {true, true, true, true}})
      for (const std::int64_t dim : {33, 130}) {
        const step::Cell cell = step::with_forms(plain, forms).value();
        const Storage storage = ++turn % 2 == 0 ? Storage::BF16 : Storage::F32;
        Case c = case_of_head(cell, storage, {5, 9, turn % 2 + 1, dim});
        c.parameters = head_point(c.problem, 2, 4, 2, 2);
        Comparison(std::move(c)).run();
        ASSERT_FALSE(HasFailure()) << cell.name << " D=" << dim;
      }
}

// The moments of numbers far from zero: what cancels in a difference of sums does not here.
TEST(WholeHead, VarianceDoesNotCancel) {
  const frontend::Parsed parsed = frontend::parse(
      "cell far(D) {\n input x[D]\n state h[D]\n v = x + 4096\n d = v - mean(v)\n"
      " next h = 0.5 * h + mean(square(d))\n output h\n}\n",
      "far.cell");
  ASSERT_TRUE(parsed.ok());
  for (const std::int64_t dim : {5, 130, 1000}) {
    Case c = case_of_head(parsed.cells.front(), Storage::F32, {2, 5, 1, dim});
    c.parameters = head_point(c.problem, 4, 4, 2, 1);
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << dim;
  }
}

// Channels that tie for the largest share its gradient evenly, as the reference has it.
TEST(WholeHead, TiesOfTheMaximum) {
  const frontend::Parsed parsed = frontend::parse(
      "cell ties(D) {\n input x[D]\n state h[D]\n top = max(select(x > 0, 1, x))\n"
      " next h = 0.5 * h + x * top + max(h)\n output h\n}\n",
      "ties.cell");
  ASSERT_TRUE(parsed.ok());
  for (const std::int64_t dim : {1, 40, 300}) {
    Case c = case_of_head(parsed.cells.front(), Storage::F32, {2, 5, 1, dim});
    c.parameters = head_point(c.problem, 4, 4, 2, 1);
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << dim;
  }
}

// Cells at random that reduce, and have states, inputs, parameters and outputs with one value a head.
TEST(WholeHead, RandomCells) {
  int runs = 0;
  for (std::uint64_t seed = 1; runs < 100; ++seed) {
    step::testing::Random random(seed);
    const step::Cell cell = step::testing::random_cell(random, {false, true, seed % 3 == 0});
    if (!needs_whole_head(step::simplify(cell))) continue;
    const std::int64_t dim = runs % 3 == 0 ? 7 : runs % 3 == 1 ? 40 : 132;
    Case c = case_of_head(cell, Storage::F32, {2, 3, runs % 2 + 1, dim});
    c.parameters = head_point(c.problem, 1 << runs % 3, 2, 2, 1 << runs % 2);
    c.in_fp64 = true;  // some of them jump
    c.runner = [](const Task& task, const KernelPlan& plan, const TensorValues& values, int pad) {
      kernel::SimulationOptions options;
      options.fp64 = true;
      return simulate_plan(task, plan, values, pad, options);
    };
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << step::testing::provenance(seed, cell);
    ++runs;
  }
}

TEST(WholeHead, PointsOfTheSpace) {
  std::mt19937 rng(7);
  for (const step::Cell& cell : head_cells())
    for (const std::int64_t dim : {8, 33, 200})
      for (const std::int64_t heads : {1, 5}) {
        Case c = case_of_head(cell, Storage::BF16, {2, 19, heads, dim});
        c.problem.pass = Pass::Backward;
        c.backward = some_point(cell, c.problem, rng);
        c.problem.pass = Pass::ForwardSave;
        c.parameters = some_point(cell, c.problem, rng);
        const auto built = stream_of_heads().build({cell, c.problem, target::board()}, c.parameters);
        ASSERT_TRUE(built) << built.error().message;
        Comparison(std::move(c)).run();
        ASSERT_FALSE(HasFailure()) << cell.name << " D=" << dim;
      }
}

HeadReductions reductions_of(const std::string& name, Pass pass) {
  for (const step::Cell& cell : head_cells()) {
    if (cell.name != name) continue;
    Problem problem;
    problem.pass = pass;
    const step::Cell simple = step::simplify(cell);
    return head_reductions({simple, problem, {}}, stream_step({simple, problem, {}}));
  }
  throw std::runtime_error("no cell " + name);
}

// Mean and variance of two vectors come out of one exchange; so do the sums of a backward step that need no
// other. A gradient that is linear in sums over the head is left to the second kernel.
TEST(WholeHead, ReductionsShareExchanges) {
  const HeadReductions norms = reductions_of("lngate", Pass::Forward);
  EXPECT_EQ(norms.levels, 1);
  ASSERT_EQ(norms.reductions.size(), 2u);
  for (const HeadReduction& reduction : norms.reductions)
    EXPECT_EQ(reduction.kind, HeadReduction::Kind::Moments);
  const HeadReductions backward = reductions_of("rmsgate", Pass::Backward);
  EXPECT_EQ(backward.levels, 1);
  EXPECT_EQ(backward.reductions.size(), 2u);
}

// What a block cannot hold is refused, and why.
TEST(WholeHead, RefusesWhatItCannotHold) {
  Problem problem;
  const auto refused = [&](std::int64_t dim) {
    problem.sizes.dim = dim;
    return stream_of_heads().legal({head_cells().front(), problem, {}}).reason;
  };
  EXPECT_EQ(refused(65536), "");
  EXPECT_NE(refused(65544).find("holds at most 65536"), std::string::npos) << refused(65544);
  EXPECT_EQ(refused(16383), "");
  EXPECT_NE(refused(16385).find("1024 threads have 1 each"), std::string::npos) << refused(16385);
  problem.sizes.dim = 64;
  EXPECT_FALSE(find_strategy("shoot")->legal({head_cells().front(), problem, {}}).legal);
}

}  // namespace
}  // namespace rondo::schedule
