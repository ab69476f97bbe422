// Points that persistent admits on GPUs that hardly hold them.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/constraint/solver.h"
#include "compiler/schedule/strategies.h"
#include "compiler/target/cluster_cost.h"
#include "tests/schedule/cell_files.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

// A part of a GPU (MIG) has few SMs: no cluster of 16 finds room among 16 of them, nor one of 4 among 4.
TEST(PersistentSpace, ClustersThatTheGpuHolds) {
  Problem problem;
  problem.sizes = {8, 64, 1, 128};
  const step::Cell cell = cell_named("elman");
  const Strategy& strategy = *find_strategy("persistent");
  for (const int sms : {4, 16}) {
    target::Profile profile = target::board("h200");
    profile.limits.sm_count = sms;
    const CostModel price = strategy.cost_model({cell, problem, profile});
    const constraint::System space = strategy.space({cell, problem, profile});
    int points = 0, largest = 0;
    (void)constraint::enumerate(space, [&](const constraint::Assignment& point) {
      Parameters parameters;
      for (std::size_t i = 0; i < space.names().variables.size(); ++i)
        parameters[space.names().variables[i].name] = point.values()[i];
      EXPECT_TRUE(std::isfinite(price(parameters).seconds)) << print(parameters);
      if (parameters.at("exchange") == 0)
        largest = std::max(largest, static_cast<int>(parameters.at("blocks")));
      ++points;
      return !HasFailure();
    });
    EXPECT_GT(points, 100);
    EXPECT_EQ(largest, sms == 4 ? 2 : 8);
    EXPECT_EQ(largest, target::largest_cluster(profile.limits));
  }
}

// A delay is a choice where blocks of a grid wait for sums, for reductions, or by warps that do nothing else
// for fragments, and none elsewhere.
TEST(PersistentSpace, DelaysOnlyWhereTheyChangeTheKernel) {
  struct Case {
    const char* cell;
    Pass pass;
    bool of_sums, of_vectors;  // with a reduce-scatter in a grid, and with an all-gather
  };
  for (const Case& c : {Case{"lstm", Pass::Forward, false, false}, Case{"lstm", Pass::Backward, true, false},
                        Case{"rmslstm", Pass::Forward, false, true}}) {
    Problem problem;
    problem.sizes = {8, 64, 1, 128};
    problem.pass = c.pass;
    const constraint::System space =
        find_strategy("persistent")->space({cell_named(c.cell), problem, target::board("h200")});
    bool of_sums = false, of_vectors = false;
    (void)constraint::enumerate(space, [&](const constraint::Assignment& point) {
      Parameters parameters;
      for (std::size_t i = 0; i < space.names().variables.size(); ++i)
        parameters[space.names().variables[i].name] = point.values()[i];
      if (parameters.at("poll_delay") == 0) return true;
      EXPECT_EQ(parameters.at("exchange"), 1) << print(parameters);
      if (parameters.at("gather_fragments") == 1 && parameters.at("split_k") > 1) return !HasFailure();
      (parameters.at("reduce_scatter") == 1 ? of_sums : of_vectors) = true;
      return !HasFailure();
    });
    EXPECT_EQ(of_sums, c.of_sums) << c.cell;
    EXPECT_EQ(of_vectors, c.of_vectors) << c.cell;
  }
}

}  // namespace
}  // namespace rondo::schedule
