#include "tuner/calibrate/cpu_probes.h"

#include <cstring>

namespace rondo::tuner {

namespace {

constexpr int kChains = 12;  // two pipes of a latency of four to six cycles

// Vectors of the compiler's, as wide as the function that uses them may.
template <int kBytes>
struct Vectors {
  using Type __attribute__((vector_size(kBytes))) = float;
  static constexpr int kLanes = kBytes / 4;
};

// Inlined into functions that are compiled for one level each. A product and a sum become one instruction
// there.
template <class V>
[[gnu::always_inline]] inline double multiply_adds_of(std::uint64_t rounds, float* keep) {
  using Type = typename V::Type;
  Type sums[kChains], factor, addend;
  std::memset(&sums, 0, sizeof sums);
  for (int lane = 0; lane < V::kLanes; ++lane) {
    factor[lane] = 0.999f + keep[0];
    addend[lane] = 0.001f;
  }
  for (std::uint64_t round = 0; round < rounds; ++round) {
#if defined(__clang__)
#pragma clang fp contract(fast)
#endif
    for (Type& sum : sums) sum = sum * factor + addend;
  }
  for (const Type& sum : sums) keep[1] += sum[0];
  return static_cast<double>(rounds) * kChains * V::kLanes;
}

template <class V>
[[gnu::always_inline]] inline float sum_by(const float* numbers, std::size_t count) {
  using Type = typename V::Type;
  constexpr std::size_t kAtOnce = 4;
  Type sums[kAtOnce];
  std::memset(&sums, 0, sizeof sums);
  for (std::size_t i = 0; i + kAtOnce * V::kLanes <= count; i += kAtOnce * V::kLanes)
    for (std::size_t k = 0; k < kAtOnce; ++k) {
      Type next;
      std::memcpy(&next, numbers + i + k * V::kLanes, sizeof next);
      sums[k] += next;
    }
  return sums[0][0] + sums[1][0] + sums[2][0] + sums[3][0];
}

#if defined(__x86_64__)
#if defined(__clang__)
#define RONDO_LEVEL(features) [[gnu::target(features)]]
#else
#define RONDO_LEVEL(features) [[gnu::target(features), gnu::optimize("fp-contract=fast")]]
#endif
RONDO_LEVEL("avx512f,avx512vl,fma") double multiply_adds_4(std::uint64_t rounds, float* keep) {
  return multiply_adds_of<Vectors<64>>(rounds, keep);
}
RONDO_LEVEL("avx2,fma") double multiply_adds_3(std::uint64_t rounds, float* keep) {
  return multiply_adds_of<Vectors<32>>(rounds, keep);
}
RONDO_LEVEL("avx512f,avx512vl") float sum_4(const float* numbers, std::size_t count) {
  return sum_by<Vectors<64>>(numbers, count);
}
RONDO_LEVEL("avx2") float sum_3(const float* numbers, std::size_t count) {
  return sum_by<Vectors<32>>(numbers, count);
}
#undef RONDO_LEVEL
#endif

}  // namespace

std::uint64_t chain_of_additions(std::uint64_t rounds) {
  std::uint64_t sum = rounds;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    sum += i;
    asm volatile("" : "+r"(sum));  // which the compiler would work out at once
  }
  return sum;
}

double multiply_adds([[maybe_unused]] const target::Target& target, std::uint64_t rounds, float* keep) {
#if defined(__x86_64__)
  if (target.has_avx512()) return multiply_adds_4(rounds, keep);
  if (target.level == 3) return multiply_adds_3(rounds, keep);
  return 0;
#else
  return multiply_adds_of<Vectors<16>>(rounds, keep);
#endif
}

float sum_of([[maybe_unused]] const target::Target& target, const float* numbers, std::size_t count) {
#if defined(__x86_64__)
  if (target.has_avx512()) return sum_4(numbers, count);
  if (target.level == 3) return sum_3(numbers, count);
#endif
  return sum_by<Vectors<16>>(numbers, count);
}

}  // namespace rondo::tuner
