// Rules of shoot's space that narrow the search.
#include <gtest/gtest.h>

#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

// Four segments with so many channels a thread, 8 x 1024 channels, unless it says otherwise; "" where the
// point is legal.
struct AskedSizes {
  std::int64_t time = 512, per_thread = 1, warmup = 32;
  kernel::Storage storage = kernel::Storage::BF16;
  const char* board = "h200";
  std::int64_t batch = 8;
  const char* cell = "paragru";
  int exchange = 0;
  std::int64_t dim = 1024, segments = 4, time_split = 1;
};

std::string refused(const AskedSizes& asked) {
  Problem problem;
  problem.sizes = {asked.batch, asked.time, 1, asked.dim};
  problem.storage = asked.storage;
  const bool wide = asked.storage == kernel::Storage::F32;
  problem.math = wide ? kernel::Math::Accurate : kernel::Math::Fast;
  const Parameters point{{"channels", 32 * asked.per_thread},
                         {"per_thread", asked.per_thread},
                         {"segments", asked.segments},
                         {"time_split", asked.time_split},
                         {"exchange", asked.exchange},
                         {"steps", wide ? 16 : 32},
                         {"stages", 2},
                         {"unroll", 8 / asked.per_thread},
                         {"vector", wide ? 4 : 8},
                         {"warmup", asked.warmup},
                         {"newton", 0},
                         {"sweeps", asked.segments * asked.time_split < 24 ? 1 : 2},
                         {"rewrite", 0},
                         {"keep_inputs", 0},
                         {"stream_stores", 0}};
  const auto plan =
      find_strategy("shoot")->build({cell_named(asked.cell), problem, target::board(asked.board)}, point);
  return plan ? "" : plan.error().message;
}

TEST(ShootSpace, ShortSegmentsHaveOneChannelAThread) {
  EXPECT_NE(refused({512, 2}).find("threads for short segments"), std::string::npos) << refused({512, 2});
  EXPECT_NE(refused({1023, 2}).find("threads for short segments"), std::string::npos) << refused({1023, 2});
  EXPECT_EQ(refused({1024, 2}), "");
  EXPECT_EQ(refused({512, 1}), "");
}

// An H100 copies more slowly than an H200, so a sweep is a larger part of a walk in order there: 1.52 times
// stream with two channels a thread, 1.53 with a warm-up of half a segment in fp32, 1.38 and 1.34 on an H200.
TEST(ShootSpace, TheWorstCaseIsBoundedByWhatASweepCopies) {
  using kernel::Storage;
  const std::string why = "a worst case near that of stream";
  EXPECT_EQ(refused({2048, 2}), "");
  EXPECT_NE(refused({2048, 2, 32, Storage::BF16, "h100"}).find(why), std::string::npos);
  EXPECT_EQ(refused({2048, 1, 32, Storage::BF16, "h100"}), "");
  EXPECT_EQ(refused({512, 1, 64, Storage::F32}), "");
  EXPECT_NE(refused({512, 1, 64, Storage::F32, "h100"}).find(why), std::string::npos);
  EXPECT_EQ(refused({1024, 1, 64, Storage::F32, "h100"}), "");
}

TEST(ShootSpace, AnAccurateGuessIsWarmedUpForLong) {
  EXPECT_NE(refused({2048, 1, 32, kernel::Storage::F32}).find("a guess to the last bits"), std::string::npos);
  EXPECT_EQ(refused({2048, 1, 64, kernel::Storage::F32}), "");
  EXPECT_EQ(refused({2048, 1, 32, kernel::Storage::BF16}), "");
}

// Of one sweep, a block that goes in order, and a scan.
TEST(ShootSpace, LaunchesAreFewBesideTheWalkInOrder) {
  const std::string why = refused({1024, 1, 32, kernel::Storage::BF16, "h200", 8, "paragru", 2});
  EXPECT_NE(why.find("launches that a walk in order is long beside"), std::string::npos) << why;
  EXPECT_EQ(refused({8192, 1, 32, kernel::Storage::BF16, "h200", 8, "paragru", 2}), "");
}

// With weights of 5 a run of 64 channels, T = 2048, took 1.66 times as long as stream with 64 segments and
// 1.38 with 32; of 1024 channels 1.51 with 32 and 1.29 with 16 (H200, bf16). In fp32 a step takes twice as
// long, so the turns between segments are a smaller part: 1.38 with 32.
TEST(ShootSpace, TurnsAreFewBesideTheWalkInOrder) {
  using kernel::Storage;
  const auto with = [](std::int64_t time, std::int64_t dim, std::int64_t segments, std::int64_t time_split,
                       Storage storage) {
    return refused({time, 1, storage == Storage::F32 ? 64 : 32, storage, "h200", 1, "paragru", 0, dim,
                    segments, time_split});
  };
  const std::string why = "turns that a walk in order is long beside";
  EXPECT_NE(with(2048, 64, 4, 16, Storage::BF16).find(why), std::string::npos);
  EXPECT_NE(with(2048, 64, 7, 8, Storage::BF16).find(why), std::string::npos);
  EXPECT_EQ(with(2048, 64, 4, 8, Storage::BF16), "");
  EXPECT_EQ(with(8192, 64, 4, 16, Storage::BF16), "");
  EXPECT_NE(with(2048, 1024, 4, 8, Storage::BF16).find(why), std::string::npos);
  EXPECT_EQ(with(2048, 1024, 4, 4, Storage::BF16), "");
  EXPECT_EQ(with(2048, 1024, 4, 8, Storage::F32), "");
}

TEST(ShootSpace, SegmentsOfAnAffineCellHaveJacobians) {
  const std::string why = refused({8192, 1, 64, kernel::Storage::BF16, "h200", 1, "mingru"});
  EXPECT_NE(why.find("an affine cell's second sweep"), std::string::npos) << why;
}

}  // namespace
}  // namespace rondo::schedule
