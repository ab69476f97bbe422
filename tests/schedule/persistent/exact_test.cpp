// persistent, on the integers of exact_case.h.
#include "tests/schedule/exact_case.h"

namespace rondo::schedule {
namespace {

void run_in(kernel::Storage storage, kernel::Math math, int blocks, int grid, int splits, int reduce_scatter,
            int share, const step::Clip& clip) {
  SCOPED_TRACE(kernel::math_name(math));
  ExactCase("persistent",
            {{"blocks", blocks},
             {"batch_tiles_in_flight", 1},
             {"exchange", grid},
             {"reduce_scatter", reduce_scatter},
             {"cluster_k_split", share},
             {"unit_blocks", 1},
             {"batch_tiles", 1},
             {"register_k_tiles", 1},
             {"split_k", splits},
             {"accumulators", 2},
             {"steps", 2},
             {"stages", 3},
             {"vector", 16 / kernel::storage_bytes(storage)},
             {"producer_warps", 1},
             {"store_warps", 1},
             {"poll_delay", 0}},
            storage, clip, {}, math)
      .run();
}

// In bf16, and in fp32 by both kinds of products.
void run(int blocks, int grid, int splits, int reduce_scatter = 0, int share = 1) {
  run_in(kernel::Storage::BF16, kernel::Math::Fast, blocks, grid, splits, reduce_scatter, share, {});
  for (const kernel::Math math : {kernel::Math::Accurate, kernel::Math::Tf32})
    run_in(kernel::Storage::F32, math, blocks, grid, splits, reduce_scatter, share, {});
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
    const auto clipped = [&](int blocks, int grid) {
      run_in(kernel::Storage::BF16, kernel::Math::Fast, blocks, grid, 1, 0, 1, clip);
    };
    clipped(1, 0);
    clipped(2, 0);
    clipped(3, 1);
  }
}

}  // namespace
}  // namespace rondo::schedule
