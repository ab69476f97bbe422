// Rules of shoot's space that narrow the search.
#include <gtest/gtest.h>

#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

// Four segments of `time` steps with so many channels a thread; "" where the point is legal.
std::string refused(std::int64_t time, std::int64_t per_thread) {
  Problem problem;
  problem.sizes = {8, time, 1, 1024};
  const Parameters point{{"channels", 32 * per_thread},
                         {"per_thread", per_thread},
                         {"segments", 4},
                         {"time_split", 1},
                         {"exchange", 0},
                         {"steps", 32},
                         {"stages", 2},
                         {"unroll", 8 / per_thread},
                         {"vector", 8},
                         {"warmup", 32},
                         {"newton", 0},
                         {"sweeps", 1},
                         {"rewrite", 0},
                         {"stream_stores", 0}};
  const auto plan =
      find_strategy("shoot")->build(cell_named("paragru"), problem, point, target::board("h200"));
  return plan ? "" : plan.error().message;
}

TEST(ShootSpace, ShortSegmentsHaveOneChannelAThread) {
  EXPECT_NE(refused(512, 2).find("threads for short segments"), std::string::npos) << refused(512, 2);
  EXPECT_NE(refused(1023, 2).find("threads for short segments"), std::string::npos) << refused(1023, 2);
  EXPECT_EQ(refused(1024, 2), "");
  EXPECT_EQ(refused(512, 1), "");
}

}  // namespace
}  // namespace rondo::schedule
