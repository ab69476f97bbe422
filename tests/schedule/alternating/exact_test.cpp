// alternating, on the integers of exact_case.h: tensor cores and multiply-adds, chunks that fill a ring and
// more, rows that leave half a tile.
#include "tests/schedule/exact_case.h"

namespace rondo::schedule {
namespace {

using kernel::Storage;

void run(Storage storage, int units, int batch_tiles, int warps, int stages) {
  const int vector = 16 / kernel::storage_bytes(storage);
  ExactCase("alternating",
            {{"units", units},
             {"batch_tiles", batch_tiles},
             {"warps", warps},
             {"stages", stages},
             {"vector", vector}},
            storage)
      .run();
}

TEST(AlternatingExact, Bf16) { run(Storage::BF16, 16, 1, 2, 2); }
TEST(AlternatingExact, Fp16) { run(Storage::F16, 8, 2, 4, 3); }
TEST(AlternatingExact, Fp32) { run(Storage::F32, 16, 1, 2, 2); }
TEST(AlternatingExact, Fp32OddTiles) { run(Storage::F32, 8, 2, 4, 6); }
TEST(AlternatingExact, OneBlockForAll) { run(Storage::BF16, 64, 1, 2, 4); }

}  // namespace
}  // namespace rondo::schedule
