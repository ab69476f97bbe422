// The random numbers of cells: Philox 4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A number is a function of its place alone, so
// nothing is stored, and the reference, the simulator and every backend give the same bits in any order.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace rondo::scalar {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// The ten rounds of the paper, with its multipliers and Weyl constants.
inline PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

// The number of a draw's name, FNV-1a of 32 bits: the second word of the key.
inline std::uint32_t philox_stream(std::string_view name) {
  std::uint32_t hash = 0x811C9DC5;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  return hash;
}

// The draw of one channel, a multiple of 2^-24 in [0, 1). The first word of the key is the bit pattern of the
// seed, so floats with other bits are other seeds. The counter is the place as it stands, and one of the four
// words is used: a thread has any channels, of which the compiler does not know that four in a row share a
// counter.
inline float philox_uniform(float seed, std::uint32_t stream, std::uint32_t row, std::uint32_t step,
                            std::uint32_t head, std::uint32_t channel) {
  const PhiloxCounter words =
      philox({channel, step, row, head}, {std::bit_cast<std::uint32_t>(seed), stream});
  return static_cast<float>(words[0] >> 8) * 0x1p-24f;
}

}  // namespace rondo::scalar
