#include "runtime/storage_codec.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace rondo::runtime {

using kernel::Storage;

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);  // keep it a NaN
  const std::uint32_t even = (bits >> 16) & 1u;
  return static_cast<std::uint16_t>((bits + 0x7FFFu + even) >> 16);
}

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

std::uint16_t to_fp16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u);
  if (magnitude >= 0x477FF000u)
    return static_cast<std::uint16_t>(sign | 0x7C00u);  // 65520 and more: infinity
  if (magnitude < 0x38800000u) {
    // Below 2^-14, multiples of 2^-24: the sum's unit in the last place is just that, so the addition rounds.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u));
  }
  const std::uint32_t even = (magnitude >> 13) & 1u;
  const std::uint32_t rounded = magnitude + 0xFFFu + even - (112u << 23);  // exponent bias 127 -> 15
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

float from_fp16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1Fu;
  const std::uint32_t fraction = bits & 0x3FFu;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | (fraction << 13));
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (fraction << 13));
}

float round_to_storage(Storage storage, float value) {
  switch (storage) {
    case Storage::BF16: return from_bf16(to_bf16(value));
    case Storage::F16: return from_fp16(to_fp16(value));
    case Storage::F32:
    case Storage::I32: break;
  }
  return value;
}

RoundState round_state_of(Storage storage) {
  switch (storage) {
    case Storage::BF16: return [](float value) { return round_to_storage(Storage::BF16, value); };
    case Storage::F16: return [](float value) { return round_to_storage(Storage::F16, value); };
    case Storage::F32:
    case Storage::I32: break;
  }
  return nullptr;
}

double unit_roundoff(Storage storage) {
  switch (storage) {
    case Storage::BF16: return 0x1p-8;
    case Storage::F16: return 0x1p-11;
    case Storage::F32:
    case Storage::I32: break;
  }
  return 0x1p-24;
}

void encode(Storage storage, double value, std::byte* target) {
  const auto single = static_cast<float>(value);
  if (storage == Storage::F32) {
    std::memcpy(target, &single, sizeof single);
    return;
  }
  const std::uint16_t bits = storage == Storage::BF16 ? to_bf16(single) : to_fp16(single);
  std::memcpy(target, &bits, sizeof bits);
}

double decode(Storage storage, const std::byte* source) {
  if (storage == Storage::F32) {
    float single = 0;
    std::memcpy(&single, source, sizeof single);
    return static_cast<double>(single);
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, source, sizeof bits);
  return static_cast<double>(storage == Storage::BF16 ? from_bf16(bits) : from_fp16(bits));
}

bool is_poison(Storage storage, const std::byte* source) {
  for (int i = 0; i < kernel::storage_bytes(storage); ++i)
    if (source[i] != std::byte{kPoisonByte}) return false;
  return true;
}

}  // namespace rondo::runtime
