// persistent, on the integers of exact_case.h.
#include "tests/schedule/exact_case.h"

namespace rondo::schedule {
namespace {

void run(int blocks, int grid, int splits, int reduce_scatter = 0, int share = 1,
         const step::Clip& clip = {}) {
  ExactCase("persistent",
            {{"blocks", blocks},
             {"together", 1},
             {"grid", grid},
             {"reduce_scatter", reduce_scatter},
             {"share", share},
             {"unit_blocks", 1},
             {"batch_tiles", 1},
             {"resident", 1},
             {"splits", splits},
             {"chains", 2},
             {"steps", 2},
             {"stages", 3},
             {"vector", 8},
             {"loaders", 1},
             {"writers", 1}},
            kernel::Storage::BF16, clip)
      .run();
}

TEST(PersistentExact, OneBlock) { run(1, 0, 1); }
TEST(PersistentExact, ClusterOf2) { run(2, 0, 1); }
TEST(PersistentExact, ClusterOf4WithSplits) { run(4, 0, 2); }
TEST(PersistentExact, GridOf3) { run(3, 1, 1); }

TEST(PersistentExact, ReduceScatterInClusterOf4) { run(4, 0, 2, 1); }
TEST(PersistentExact, ReduceScatterInGridOf2) { run(2, 1, 1, 1); }
TEST(PersistentExact, ReduceScatterInGridOfClusters) { run(4, 1, 1, 1, 2); }

// Bounds that these numbers reach, alone and together.
TEST(PersistentExact, ClippedRecurrence) {
  for (const step::Clip& clip : {step::Clip{2.0, {}}, step::Clip{{}, 2.0}, step::Clip{3.0, 1.0}}) {
    run(1, 0, 1, 0, 1, clip);
    run(2, 0, 1, 0, 1, clip);
    run(3, 1, 1, 0, 1, clip);
  }
}

}  // namespace
}  // namespace rondo::schedule
