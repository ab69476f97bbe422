#include "compiler/scalar/storage.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/support/enum_text.h"

namespace rondo::scalar {

int storage_bytes(Storage storage) {
  switch (storage) {
    case Storage::F64: return 8;
    case Storage::F32:
    case Storage::I32: return 4;
    case Storage::BF16:
    case Storage::F16: return 2;
    case Storage::U8: return 1;
  }
  return 0;
}

namespace {

constexpr EnumText<Storage> kStorageNames[] = {{Storage::F32, "fp32"}, {Storage::BF16, "bf16"},
                                               {Storage::F16, "fp16"}, {Storage::I32, "int32"},
                                               {Storage::U8, "uint8"}, {Storage::F64, "fp64"}};
static_assert(is_total(kStorageNames));

}  // namespace

const char* storage_name(Storage storage) { return to_text(kStorageNames, storage); }

double unit_roundoff(Storage storage) {
  switch (storage) {
    case Storage::BF16: return 0x1p-8;
    case Storage::F16: return 0x1p-11;
    case Storage::F64: return 0x1p-53;
    case Storage::F32:
    case Storage::I32:
    case Storage::U8: break;
  }
  return 0x1p-24;
}

namespace {

// bfloat16 is the upper half of a float. Adding half a unit of the last kept place, less one when that place
// is even, carries into it exactly where round-to-nearest-even rounds up; infinity comes out of the largest
// values by the same carry.
float round_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return std::bit_cast<float>((bits | 0x00400000u) & 0xFFFF0000u);
  const std::uint32_t half = 0x7FFFu + ((bits >> 16) & 1u);
  return std::bit_cast<float>((bits + half) & 0xFFFF0000u);
}

// IEEE binary16: 10 bits of fraction, least exponent -14, subnormals in steps of 2^-24, largest finite value
// 65504.
float round_f16(float value) {
  if (!std::isfinite(value)) return value;
  const float magnitude = std::abs(value);
  constexpr float kOverflow = 65520.0f;  // halfway between 65504 and what the next step would be
  if (magnitude >= kOverflow) return std::copysign(std::numeric_limits<float>::infinity(), value);
  constexpr float kLeastNormal = 0x1p-14f;
  if (magnitude < kLeastNormal) {
    // 0.5 has steps of 2^-24: the addition itself rounds to nearest even there.
    return std::copysign((magnitude + 0.5f) - 0.5f, value);
  }
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t half = 0xFFFu + ((bits >> 13) & 1u);
  return std::bit_cast<float>((bits + half) & 0xFFFFE000u);
}

constexpr std::uint32_t kInfinity = 0x7F800000u;  // bits of a float

constexpr std::uint32_t kTf32Bits = 0xFFFFE000u;  // of a float that tf32 keeps
constexpr std::uint32_t kTf32Half = 0x1000u;      // half a unit of its last place

}  // namespace

float round_to(Storage storage, float value) {
  switch (storage) {
    case Storage::F32:
    case Storage::F64:
    case Storage::I32:
    case Storage::U8: return value;
    case Storage::BF16: return round_bf16(value);
    case Storage::F16: return round_f16(value);
  }
  return value;
}

double nearest(Storage storage, double value) {
  return storage == Storage::F64 ? value : static_cast<double>(round_to(storage, static_cast<float>(value)));
}

std::uint16_t half_bits(Storage storage, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(round_to(storage, value));
  if (storage == Storage::BF16) return static_cast<std::uint16_t>(bits >> 16);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > kInfinity) return static_cast<std::uint16_t>(sign | 0x7E00u);
  if (magnitude == kInfinity) return static_cast<std::uint16_t>(sign | 0x7C00u);
  constexpr std::uint32_t kLeastNormal = 113u << 23;  // 2^-14
  if (magnitude >= kLeastNormal) return static_cast<std::uint16_t>(sign | ((magnitude >> 13) - (112u << 10)));
  const float steps = std::bit_cast<float>(magnitude) * 0x1p24f;  // whole: the value is rounded
  return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(steps));
}

float half_value(Storage storage, std::uint16_t bits) {
  if (storage == Storage::BF16) return std::bit_cast<float>(std::uint32_t{bits} << 16);
  const std::uint32_t sign = (bits & 0x8000u) << 16, fields = (bits & 0x7FFFu) << 13;
  if ((bits & 0x7C00u) == 0x7C00u) return std::bit_cast<float>(sign | kInfinity | fields);
  // Fraction and exponent are in place but for the bias, 127 instead of 15; that mends subnormals too.
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(std::bit_cast<float>(fields) * 0x1p112f) | sign);
}

RoundState round_state_of(Storage storage) {
  switch (storage) {
    case Storage::BF16: return [](float value) { return round_to(Storage::BF16, value); };
    case Storage::F16: return [](float value) { return round_to(Storage::F16, value); };
    case Storage::F32:
    case Storage::F64:
    case Storage::I32:
    case Storage::U8: break;
  }
  return nullptr;
}

void encode(Storage storage, double value, std::byte* target) {
  if (storage == Storage::F64) {
    std::memcpy(target, &value, sizeof value);
    return;
  }
  const auto single = static_cast<float>(value);
  if (storage == Storage::F32) {
    std::memcpy(target, &single, sizeof single);
    return;
  }
  if (is_integer(storage)) {
    const auto whole = static_cast<std::int32_t>(value);
    if (storage == Storage::U8)
      *target = static_cast<std::byte>(whole);
    else
      std::memcpy(target, &whole, sizeof whole);
    return;
  }
  const std::uint16_t bits = half_bits(storage, single);
  std::memcpy(target, &bits, sizeof bits);
}

double decode(Storage storage, const std::byte* source) {
  if (storage == Storage::F64) {
    double value = 0;
    std::memcpy(&value, source, sizeof value);
    return value;
  }
  if (storage == Storage::F32) {
    float single = 0;
    std::memcpy(&single, source, sizeof single);
    return static_cast<double>(single);
  }
  if (storage == Storage::U8) return static_cast<double>(std::to_integer<int>(*source));
  if (storage == Storage::I32) {
    std::int32_t whole = 0;
    std::memcpy(&whole, source, sizeof whole);
    return static_cast<double>(whole);
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, source, sizeof bits);
  return static_cast<double>(half_value(storage, bits));
}

bool is_poison(Storage storage, const std::byte* source) {
  for (int i = 0; i < storage_bytes(storage); ++i)
    if (source[i] != std::byte{kPoisonByte}) return false;
  return true;
}

// A float without the last 13 bits of its fraction; infinity comes out of the largest values by the carry.
float round_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return std::bit_cast<float>((bits | 0x00400000u) & kTf32Bits);
  if (std::isinf(value)) return value;
  return std::bit_cast<float>((bits + kTf32Half) & kTf32Bits);
}

bool is_tf32(float value) {
  return std::isnan(value) || (std::bit_cast<std::uint32_t>(value) & ~kTf32Bits) == 0;
}

Tf32Parts split_tf32(float value) {
  if (!std::isfinite(value)) return {round_tf32(value), std::numeric_limits<float>::quiet_NaN()};
  const float big = round_tf32(value);
  const auto rest = std::bit_cast<std::uint32_t>(value - big);
  return {big, std::bit_cast<float>(rest & kTf32Bits)};
}

}  // namespace rondo::scalar
