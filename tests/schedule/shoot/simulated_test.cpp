// shoot in the simulator against the fp64 reference: every cell of channels on their own, segments from one
// to one for each step, and every way by which they exchange.
#include <gtest/gtest.h>

#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/shoot/points.h"

namespace rondo::schedule {
namespace {

const Strategy* const kShoot = find_strategy("shoot");

// In a block, in a cluster, through global memory, by launches.
constexpr ShootTeam kTeams[] = {{1, 1, 0}, {7, 1, 0}, {4, 2, 0}, {3, 2, 1}, {16, 1, 0}, {6, 1, 2}, {2, 1, 0},
                                {2, 4, 1}, {7, 2, 0}, {5, 1, 0}, {3, 4, 0}, {3, 2, 2},  {2, 4, 2}};

// Inputs stay in memory, shared memory or registers. Every other ring that should hold a segment, and most
// segments that registers should, are too long for that, as a longer T makes them.
void keep_inputs(Parameters& parameters, const Problem& problem, int turn) {
  const std::int64_t parts = parameters.at("segments") * parameters.at("time_split");
  const std::int64_t steps = parameters.at("steps"), segment = (problem.sizes.time + parts - 1) / parts;
  const bool by_launch = parameters.at("exchange") == 2;
  parameters["keep_inputs"] = by_launch ? 0 : turn % 3;
  if (parameters.at("keep_inputs") == 1 && turn / 3 % 2 == 0)
    parameters["stages"] =
        std::clamp<std::int64_t>((segment + steps - 1) / steps + parameters.at("warmup") / steps, 2, 16);
}

void run_all(Storage storage) {
  int turn = 0;
  for (const step::Cell& cell : diagonal_cells())
    for (const std::int64_t time : {1, 7, 65, 257})
      for (const std::int64_t dim : {1, 33}) {
        ++turn;
        Case c{kShoot, cell, {}, {}, {}};
        c.problem.sizes = {turn % 2 == 0 ? 1 : 3, time, turn % 3 == 0 ? 2 : 1, dim};
        c.problem.storage = storage;
        c.problem.math = default_math(storage);
        const ShootTeam team = kTeams[static_cast<std::size_t>(turn) % std::size(kTeams)];
        c.parameters = shoot_point(c.problem, team, 1 + turn % 2, turn % 4 == 0 ? 16 : 0, turn % 3 != 0,
                                   turn % 5 == 0 ? 1 : 3);
        c.parameters["rewrite"] = c.problem.math == kernel::Math::Fast ? turn % 3 : 0;
        c.parameters["stages"] = 2 + turn % 2;
        c.parameters["stream_stores"] = turn / 2 % 2;
        keep_inputs(c.parameters, c.problem, turn / 3);
        Comparison(std::move(c)).run();
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
}

TEST(ShootSimulated, EveryCellBf16) { run_all(Storage::BF16); }
TEST(ShootSimulated, EveryCellFp16) { run_all(Storage::F16); }
TEST(ShootSimulated, EveryCellFp32) { run_all(Storage::F32); }

// With one step a segment this is Newton's method for all steps at once.
TEST(ShootSimulated, AnyNumberOfSegments) {
  for (const int time : {1, 7, 31})
    for (int segments = 1; segments <= time; ++segments)
      for (const bool newton : {true, false}) {
        Case c{kShoot, cell_named("paralstm"), {}, {}, {}};
        c.problem.sizes = {1, time, 1, 33};
        c.problem.storage = Storage::F32;
        c.problem.math = kernel::Math::Accurate;
        c.parameters = shoot_point(c.problem, {segments, 1, 0}, 1, 0, newton, 2);
        Comparison(std::move(c)).run();
        ASSERT_FALSE(::testing::Test::HasFailure()) << segments << " segments of " << time << " steps";
      }
}

TEST(ShootSimulated, MoreBatchRowsThanAtOnceThroughGlobalMemory) {
  Case c{kShoot, cell_named("paragru"), {}, {}, {}};
  c.problem.sizes = {1, 65, 2, 40};
  c.problem.storage = Storage::BF16;
  c.parameters = shoot_point(c.problem, {3, 2, 1});
  Problem tuned = c.problem;
  const KernelPlan plan = point_plan(*kShoot, c.cell, tuned, c.parameters);
  EXPECT_EQ(plan.launches.back().tiles_together, 1);
  EXPECT_TRUE(plan.launches.back().kernel.cooperative);
  c.problem.sizes.batch = 3;
  Comparison(std::move(c)).run();
}

TEST(ShootSimulated, SaysWhereItIsOfNoUse) {
  Problem problem;
  EXPECT_TRUE(kShoot->legal({cell_named("paragru"), problem, {}}).legal);
  EXPECT_FALSE(kShoot->legal({cell_named("lstm"), problem, {}}).legal);
  problem.pass = Pass::Backward;
  EXPECT_NE(kShoot->legal({cell_named("paragru"), problem, {}}).reason.find("stream"), std::string::npos);
}

}  // namespace
}  // namespace rondo::schedule
