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
    const CostModel price = strategy.cost_model(cell, problem, profile);
    const constraint::System space = strategy.space(cell, problem, profile);
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

}  // namespace
}  // namespace rondo::schedule
