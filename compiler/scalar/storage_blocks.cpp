#include "compiler/scalar/storage_blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace rondo::scalar {
namespace {

constexpr std::uint32_t kWithoutSign = 0x7FFFFFFFu, kInfiniteFloat = 0x7F800000u;  // bits of a float

std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = bits + 0x7FFFu + ((bits >> 16) & 1u), none = bits | 0x00400000u;
  return static_cast<std::uint16_t>(((bits & kWithoutSign) > kInfiniteFloat ? none : rounded) >> 16);
}

// All three cases are computed and one is chosen: a normal number, one that fp16 holds in steps of 2^-24,
// which are those of 0.5, and one that is too large or none.
std::uint16_t f16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & kWithoutSign;
  const std::uint32_t normal = ((magnitude + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13) - (112u << 10);
  const float shifted = std::bit_cast<float>(magnitude < kInfiniteFloat ? magnitude : 0u) + 0.5f;
  const std::uint32_t small = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f);
  constexpr std::uint32_t kLeastNormal = 113u << 23;                  // 2^-14
  constexpr auto kOverflow = std::bit_cast<std::uint32_t>(65520.0f);  // see round_f16
  std::uint32_t result = magnitude < kLeastNormal ? small : normal;
  result = magnitude >= kOverflow ? 0x7C00u : result;
  result = magnitude > kInfiniteFloat ? 0x7E00u : result;
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | result);
}

float f16_value(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, fields = (half & 0x7FFFu) << 13;
  const auto finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(fields) * 0x1p112f);
  const std::uint32_t magnitude = fields >= (0x7C00u << 13) ? fields | kInfiniteFloat : finite;
  return std::bit_cast<float>(sign | magnitude);
}

template <class Of>
void decode_16(const std::byte* source, std::span<float> values, Of&& value_of) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, source + 2 * i, sizeof bits);
    values[i] = value_of(bits);
  }
}

template <class Of>
void encode_16(std::span<const float> values, std::byte* target, Of&& bits_of) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t bits = bits_of(values[i]);
    std::memcpy(target + 2 * i, &bits, sizeof bits);
  }
}

template <class Bits>
std::size_t all_set(const std::byte* source, std::size_t count) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Bits bits = 0;
    std::memcpy(&bits, source + i * sizeof bits, sizeof bits);
    found += bits == static_cast<Bits>(~Bits{0}) ? 1 : 0;
  }
  return found;
}

// The least magnitude that is not finite in the type, as the bits of a float: for bf16 halfway between its
// largest number and what the next one would be, as for fp16.
std::int32_t least_infinite(Storage storage) {
  if (storage == Storage::BF16) return 0x7F7F8000;
  if (storage == Storage::F16) return std::bit_cast<std::int32_t>(65520.0f);
  return static_cast<std::int32_t>(kInfiniteFloat);
}

}  // namespace

void decode_block(Storage storage, const std::byte* source, std::span<float> values) {
  if (storage == Storage::BF16)
    decode_16(source, values,
              [](std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); });
  else if (storage == Storage::F16)
    decode_16(source, values, f16_value);
  else if (!values.empty())
    std::memcpy(values.data(), source, values.size_bytes());
}

void encode_block(Storage storage, std::span<const float> values, std::byte* target) {
  if (storage == Storage::BF16)
    encode_16(values, target, bf16_bits);
  else if (storage == Storage::F16)
    encode_16(values, target, f16_bits);
  else if (!values.empty())
    std::memcpy(target, values.data(), values.size_bytes());
}

void encode_block(Storage storage, std::span<const double> values, std::byte* target) {
  const auto size = static_cast<std::size_t>(storage_bytes(storage));
  for (std::size_t i = 0; i < values.size(); ++i) encode(storage, values[i], target + i * size);
}

std::size_t poisoned_in_block(Storage storage, const std::byte* source, std::size_t count) {
  static_assert(kPoisonByte == 0xFF);
  if (storage_bytes(storage) == 8) return all_set<std::uint64_t>(source, count);
  if (storage_bytes(storage) == 4) return all_set<std::uint32_t>(source, count);
  if (storage_bytes(storage) == 2) return all_set<std::uint16_t>(source, count);
  return all_set<std::uint8_t>(source, count);
}

bool finite_block(Storage storage, std::span<const float> values) {
  const std::int32_t least = least_infinite(storage);
  std::int32_t found = 0;
  for (const float value : values)
    found |= (std::bit_cast<std::int32_t>(value) & 0x7FFFFFFF) >= least ? 1 : 0;
  return found == 0;
}

bool finite_block(Storage storage, std::span<const double> values) {
  return std::ranges::all_of(values, [&](double value) { return std::isfinite(nearest(storage, value)); });
}

}  // namespace rondo::scalar
