// The sample kernels that also run on a GPU (tests/gpu/units_test.cpp), in the simulator: the same values,
// and nothing to complain of.
#include <bit>
#include <cmath>

#include "tests/backend/cuda/kernels.h"
#include "tests/kernel/harness.h"

namespace rondo::backend::cuda::testing {
namespace {

using namespace kernel;
using kernel::test::counting;
using kernel::test::expect_clean;

std::vector<double> values(int count, int factor, int modulus, int shift) {
  std::vector<double> result;
  for (int i = 0; i < count; ++i) result.push_back(i * factor % modulus - shift);
  return result;
}

TEST(UnitKernelsSimulated, PackedPairs) {
  std::vector<GlobalBuffer> b;
  for (const Storage storage : {Storage::BF16, Storage::F16}) {
    b.push_back(counting(storage, 256));
    b.push_back(output_buffer(storage, 1024));
  }
  expect_clean(kernel::test::run(packed_pairs(), 1, b));
  for (const std::size_t k : {std::size_t{0}, std::size_t{2}})
    for (std::size_t i = 0; i < 256; i += 8) {
      const std::vector<float>& in = b[k].values;
      const float* out = &b[k + 1].values[768 + i];
      EXPECT_EQ(out[0], round_to(b[k].storage, in[i + 1] * static_cast<float>(1.0 / 3)));
      for (const int low : {1, 2, 5}) EXPECT_EQ(out[low], in[i]);
      EXPECT_EQ(out[3], round_to(b[k].storage, in[i + 1] + in[i]));
      EXPECT_EQ(out[4], in[i + 1]);
    }
}

TEST(UnitKernelsSimulated, MatrixProduct) {
  for (const Storage storage : {Storage::BF16, Storage::F16}) {
    std::vector<GlobalBuffer> b{input_buffer(storage, values(256, 7, 11, 5)),
                                input_buffer(storage, values(256, 5, 13, 6)),
                                output_buffer(Storage::F32, 768)};
    expect_clean(kernel::test::run(matrix_product(storage), 1, b));
    for (std::size_t i = 0; i < 768; ++i) {
      float sum = 0;  // integers: exact in any order
      for (std::size_t k = 0; k < 16; ++k)
        sum += b[0].values[i % 256 / 16 * 16 + k] * b[1].values[k * 16 + i % 16];
      ASSERT_EQ(b[2].values[i], sum) << i;
    }
  }
}

TEST(UnitKernelsSimulated, WarpgroupProduct) {
  for (const Storage storage : {Storage::BF16, Storage::F16})
    for (const bool mn_major : {false, true}) {
      constexpr int kSide = 128;
      std::vector<GlobalBuffer> b{input_buffer(storage, values(kSide * kSide, 7, 11, 5)),
                                  input_buffer(storage, values(kSide * kSide, 5, 13, 6)),
                                  output_buffer(Storage::F32, kSide * kSide)};
      expect_clean(kernel::test::run(warpgroup_product(storage, mn_major), 1, b));
      const auto at = [&](std::size_t buffer, std::size_t extent, std::size_t k) {
        return b[buffer].values[mn_major ? k * kSide + extent : extent * kSide + k];
      };
      for (std::size_t i = 0; i < kSide * kSide; ++i) {
        float sum = 0;  // integers: exact in any order
        for (std::size_t k = 0; k < kSide; ++k) sum += at(0, i / kSide, k) * at(1, i % kSide, k);
        ASSERT_EQ(b[2].values[i], sum) << i;
      }
    }
}

TEST(UnitKernelsSimulated, RealProduct) {
  std::vector<GlobalBuffer> b{input_buffer(Storage::F32, values(256, 1237, 16381, 8190)),
                              input_buffer(Storage::F32, values(128, 5, 15, 7)),
                              output_buffer(Storage::F32, 256), output_buffer(Storage::F32, 256)};
  expect_clean(kernel::test::run(real_product(), 1, b));
  for (std::size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(b[3].values[i], scalar::round_tf32(b[0].values[i]));
    float sum = 0;  // integers: exact in any order
    const std::vector<float>& left = i < 128 ? b[0].values : b[3].values;
    for (std::size_t k = 0; k < 16; ++k) sum += left[i % 128 / 8 * 16 + k] * b[1].values[k * 8 + i % 8];
    ASSERT_EQ(b[2].values[i], sum) << i;
  }
  EXPECT_NE(b[0].values, b[3].values);
}

TEST(UnitKernelsSimulated, FlaggedReals) {
  std::vector<double> x = values(512, 31, 127, 60);
  std::vector<GlobalBuffer> b{input_buffer(Storage::F32, x), output_buffer(Storage::F32, 512),
                              input_buffer(Storage::I32, std::vector<double>(512, kEmpty))};
  b[0].values[77] = std::bit_cast<float>(kEmpty);
  expect_clean(kernel::test::run(flagged_reals(), 2, b));
  for (std::size_t i = 0; i < 512; ++i) {
    const float want = b[0].values[(i + 256) % 512];
    if (std::isnan(want))
      EXPECT_TRUE(std::isnan(b[1].values[i])) << i;
    else
      EXPECT_EQ(b[1].values[i], want) << i;
  }
}

TEST(UnitKernelsSimulated, WarpRoles) {
  constexpr int kElements = 5 * 7 * 64;
  std::vector<GlobalBuffer> b{counting(Storage::F32, kElements), output_buffer(Storage::F32, kElements)};
  expect_clean(kernel::test::run(warp_roles(), 5, b));
  for (int i = 0; i < kElements; ++i)
    ASSERT_EQ(b[1].values[static_cast<std::size_t>(i)], 3.0f * static_cast<float>(i));
}

TEST(UnitKernelsSimulated, MeetingRoles) {
  constexpr int kTurns = 40, kBlocks = 3;
  std::vector<GlobalBuffer> b{output_buffer(Storage::I32, kBlocks * kTurns * 64)};
  expect_clean(simulate(meeting_roles(), kBlocks, {{.buffer = 0}, {.integer = kTurns}}, b));
  for (int block = 0; block < kBlocks; ++block) {
    const std::vector<int> wanted = heard_in_turns(block, kTurns);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_EQ(b[0].integers[static_cast<std::size_t>(block) * wanted.size() + i], wanted[i]) << block;
  }
}

TEST(UnitKernelsSimulated, ClusterSum) {
  constexpr int kTurns = 5, kBlocks = 8;
  std::vector<GlobalBuffer> b{input_buffer(Storage::BF16, values(kTurns * kBlocks * 64, 31, 127, 60)),
                              input_buffer(Storage::I32, values(kBlocks * 32, 3, 1 << 20, 0)),
                              output_buffer(Storage::F32, kTurns * kBlocks * 64),
                              output_buffer(Storage::I32, kBlocks * 32)};
  expect_clean(simulate(cluster_sum(), kBlocks,
                        {{.buffer = 0}, {.buffer = 1}, {.buffer = 2}, {.buffer = 3}, {.integer = kTurns}},
                        b));
  for (std::size_t i = 0; i < kTurns * kBlocks * 64; ++i) {
    float sum = 0;
    for (std::size_t rank = 0; rank < 4; ++rank) {
      const float v = b[0].values[(i / 64 / 4 * 4 + rank) * 64 + i % 64];
      const float third = v * static_cast<float>(1.0 / 3);
      sum = sum + v + third;
    }
    ASSERT_EQ(b[2].values[i], sum) << i;
  }
  for (int i = 0; i < kBlocks * 32; ++i) {
    const int block = i / 32, before = block / 4 * 4 + (block + 3) % 4;
    ASSERT_EQ(b[3].integers[static_cast<std::size_t>(i)], (before * 32 + i % 32) * 3) << i;
  }
}

TEST(UnitKernelsSimulated, GridRing) {
  constexpr int kTurns = 6, kBlocks = 12;
  std::vector<GlobalBuffer> b{output_buffer(Storage::F32, kTurns * kBlocks * 64),
                              input_buffer(Storage::I32, {0})};
  expect_clean(simulate(grid_ring(), kBlocks, {{.buffer = 0}, {.buffer = 1}, {.integer = kTurns}}, b));
  for (int i = 0; i < kTurns * kBlocks * 64; ++i) {
    const int t = i / (kBlocks * 64), block = i / 64 % kBlocks;
    ASSERT_EQ(b[0].values[static_cast<std::size_t>(i)],
              static_cast<float>((block - t + kBlocks) % kBlocks * 64 + i % 64 + t));
  }
}

}  // namespace
}  // namespace rondo::backend::cuda::testing
