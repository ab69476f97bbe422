// Forms of the CUDA prelude for GPUs before compute capability 8.0: the text that is emitted, compiled for
// the CPU.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/backend/cuda/emit.h"
#include "compiler/backend/cuda/prelude.h"
#include "compiler/kernel/passes/legalise_copies.h"
#include "compiler/scalar/storage.h"
#include "tests/backend/cuda/kernels.h"

namespace rondo::backend::cuda::testing {
namespace turing_text {

typedef unsigned short bf16;
struct {
  unsigned x;
} threadIdx;

inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline float low_bf16(int pair) { return __uint_as_float(unsigned(pair) << 16); }
inline float high_bf16(int pair) { return __uint_as_float(unsigned(pair) & 0xffff0000u); }
inline float fmaf(float a, float b, float c) { return std::fmaf(a, b, c); }
inline void __threadfence_block() {}
inline unsigned atomicAdd(unsigned* at, unsigned more) { return std::exchange(*at, *at + more); }
inline unsigned atomicInc(unsigned* at, unsigned most) {
  return std::exchange(*at, *at >= most ? 0 : *at + 1);
}

// Lanes run one after the other. What they send does not depend on what they receive: so they run twice, and
// the second time each shuffle answers with what was sent the first time.
struct Warp {
  std::array<std::vector<std::uint32_t>, 32> sent;
  std::size_t number = 0;  // of the shuffle
  bool answers = false;
};
Warp warp;

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  EXPECT_EQ(mask, 0xffffffffU);
  if (!warp.answers) {
    warp.sent[threadIdx.x].push_back(std::bit_cast<std::uint32_t>(value));
    return value;
  }
  const unsigned from = threadIdx.x / unsigned(width) * unsigned(width) + unsigned(lane);
  return std::bit_cast<T>(warp.sent.at(from).at(warp.number++));
}

#define __device__
#define __forceinline__ inline
#include "compiler/backend/cuda/prelude/turing/arithmetic.cuh"
#undef __device__
#undef __forceinline__

}  // namespace turing_text

namespace {

using kernel::Storage;

TEST(CudaTuring, Bf16IsRoundedAsByTheInstruction) {
  for (std::uint32_t high = 0; high < 0x10000; ++high)
    for (const std::uint32_t low : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      const float x = std::bit_cast<float>(high << 16 | low);
      const std::uint16_t expected = std::isnan(x) ? 0x7fff : scalar::half_bits(Storage::BF16, x);
      ASSERT_EQ(turing_text::float_to_bf16(x), expected) << std::hex << high << " " << low;
      ASSERT_EQ(turing_text::pack_bf16(x, 1), expected | 0x3f80U << 16);
      ASSERT_EQ(turing_text::pack_bf16(-2, x), 0xc000U | std::uint32_t{expected} << 16);
    }
}

TEST(CudaTuring, HeldKeepsNaN) {
  using turing_text::held;
  EXPECT_EQ(held(3, 88), 3);
  EXPECT_EQ(held(-89, 88), -88);
  EXPECT_EQ(held(std::numeric_limits<float>::infinity(), 88), 88);
  EXPECT_TRUE(std::isnan(held(std::numeric_limits<float>::quiet_NaN(), 88)));
}

// Small integers, whose sums are exact in any order.
float a_at(int row, int k) { return static_cast<float>((row * 7 + k * 3) % 17 - 8); }
float b_at(int k, int column) { return static_cast<float>((k * 5 + column * 11) % 13 - 6); }

// Runs a product of a warp, whose lanes have `a` registers of the matrix and `b` of the vectors, and compares
// with the sums (PTX ISA, m16n8k16: the lane 4g + q has rows g and g + 8 of columns 2q and 2q + 1).
void expect_product(const std::function<void(int lane, float* acc)>& multiply) {
  turing_text::warp = {};
  for (const bool answers : {false, true}) {
    turing_text::warp.answers = answers;
    for (int lane = 0; lane < 32; ++lane) {
      turing_text::threadIdx.x = unsigned(lane);
      turing_text::warp.number = 0;
      float acc[4] = {1, 2, 3, 4};
      multiply(lane, acc);
      for (int i = 0; answers && i < 4; ++i) {
        const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        float sum = static_cast<float>(i + 1);
        for (int k = 0; k < 16; ++k) sum += a_at(row, k) * b_at(k, column);
        EXPECT_EQ(acc[i], sum) << "lane " << lane << ", register " << i;
      }
    }
  }
}

// PTX ISA, fragments of mma.m16n8k16 with .bf16: register 2h + i of a has row g + 8i and columns 8h + 2q and
// the next; register h of b has rows 8h + 2q and the next of column g.
TEST(CudaTuring, ProductsOfBf16ByMultiplyAdds) {
  const auto pair = [](float low, float high) { return static_cast<int>(turing_text::pack_bf16(low, high)); };
  expect_product([&](int lane, float* acc) {
    const int g = lane / 4, q = lane % 4;
    int a[4], b[2];
    for (int h = 0; h < 2; ++h) {
      const int k = 8 * h + 2 * q;
      for (int i = 0; i < 2; ++i) a[2 * h + i] = pair(a_at(g + 8 * i, k), a_at(g + 8 * i, k + 1));
      b[h] = pair(b_at(k, g), b_at(k + 1, g));
    }
    turing_text::mma_bf16(acc, a, b);
  });
}

TEST(CudaTuring, AnMbarrierTurnsWhenAllHaveArrived) {
  for (const int arrivals : {1, 3, 96}) {
    turing_text::mbarrier barrier;
    turing_text::mbarrier_init(&barrier, arrivals);
    for (int phase = 0; phase < 5; ++phase)
      for (int i = 0; i < arrivals; ++i) {
        EXPECT_FALSE(turing_text::mbarrier_try(&barrier, phase % 2)) << arrivals << " " << phase << " " << i;
        EXPECT_TRUE(turing_text::mbarrier_try(&barrier, (phase + 1) % 2)) << "the phase before";
        turing_text::mbarrier_arrive(&barrier);
      }
  }
  static_assert(sizeof(turing_text::mbarrier) == 8, "as kernel::shared_bytes() has it");
}

// What ptxas would refuse for sm_75, and where it would stand. The texts for all later GPUs are one.
TEST(CudaTuring, TextsHaveNoLaterInstructions) {
  int with = 0;
  for (const Sample& sample : samples()) {
    if (sample.from > 75) continue;
    const kernel::Kernel kernel = kernel::legalise_copies(sample.kernel);
    const std::string text = emit({&kernel}, target::Target::gpu(75)), later = emit({&sample.kernel});
    EXPECT_EQ(later, emit({&sample.kernel}, target::Target::gpu(80))) << sample.name;
    for (const char* part :
         {"cp.async", "mbarrier.", "cvt.rn.bf16", "f16x2.f32", "aligned.m16n8k16", ".NaN."}) {
      EXPECT_EQ(text.find(part), std::string::npos) << sample.name << ": " << part;
      with += later.find(part) != std::string::npos;
    }
  }
  EXPECT_GT(with, 8) << "samples that have them for later GPUs";
}

}  // namespace
}  // namespace rondo::backend::cuda::testing
