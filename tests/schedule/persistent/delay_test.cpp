// Where persistent waits before it looks for what blocks of a grid send.
#include <gtest/gtest.h>

#include "compiler/kernel/ir/print.h"
#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

// Delays in the text of the kernel that walks the steps, for each time that it is printed there.
int delays(const char* cell, Pass pass, int reduce_scatter, int batch_tiles, int poll_delay) {
  Problem problem;
  problem.sizes = {32, 64, 1, 128};
  problem.pass = pass;
  const Parameters point{{"accumulators", 1},
                         {"batch_tiles", batch_tiles},
                         {"batch_tiles_in_flight", 4 / batch_tiles},
                         {"blocks", 4},
                         {"cluster_k_split", 1},
                         {"exchange", 1},
                         {"poll_delay", poll_delay},
                         {"producer_warps", 1},
                         {"reduce_scatter", reduce_scatter},
                         {"register_k_tiles", 1},
                         {"setmaxnreg", 0},
                         {"split_k", 1},
                         {"stages", 3},
                         {"steps", 2},
                         {"store_warps", 1},
                         {"unit_blocks", 1},
                         {"vector", 8}};
  const auto plan =
      find_strategy("persistent")->build({cell_named(cell), problem, target::board("h200")}, point);
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().message);
  if (!plan.ok()) return -1;
  int found = 0;
  for (const Launch& launch : plan->launches) {
    const std::string text = kernel::print(launch.kernel);
    for (std::size_t at = text.find(", after "); at != std::string::npos; at = text.find(", after ", at + 1))
      ++found;
  }
  return found;
}

// The lines of all batch tiles are sent before the first look for any: only that one may come too early.
TEST(PersistentDelay, OnceForAStageWhateverTheBatchTiles) {
  for (const int batch_tiles : {1, 2, 4}) {
    const int of_rms = delays("rmslstm", Pass::Forward, 0, batch_tiles, 256);
    EXPECT_GT(of_rms, 0);
    EXPECT_EQ(of_rms, delays("rmslstm", Pass::Forward, 0, 1, 256)) << batch_tiles;
    EXPECT_EQ(delays("lnlstm", Pass::Forward, 0, batch_tiles, 256), 2 * of_rms) << batch_tiles;
  }
}

TEST(PersistentDelay, BeforeSumsAndBeforeLines) {
  EXPECT_GT(delays("lstm", Pass::Backward, 1, 1, 128), 0);
  EXPECT_GT(delays("rmslstm", Pass::Backward, 1, 1, 128), delays("lstm", Pass::Backward, 1, 1, 128));
  EXPECT_EQ(delays("lstm", Pass::Backward, 1, 1, 0), 0);
}

}  // namespace
}  // namespace rondo::schedule
