// SplitMix64 (Steele, Lea, Flood 2014): random numbers that are the same on every machine, by their count.
#pragma once

#include <cstdint>

namespace rondo {

inline constexpr std::uint64_t kSplitMixStep = 0x9E3779B97F4A7C15U;

// A bijection whose results look random: of k * kSplitMixStep it is the k-th number of the generator.
constexpr std::uint64_t split_mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

}  // namespace rondo
