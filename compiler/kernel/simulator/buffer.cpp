// Memory and packed values as the simulator keeps them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "compiler/kernel/simulator/simulate.h"

namespace rondo::kernel {

namespace {

constexpr std::int32_t kPoisonedInteger = std::numeric_limits<std::int32_t>::min();

}  // namespace

std::int32_t pack_pair(Storage storage, float low, float high) {
  const std::uint32_t upper = half_bits(storage, high);
  return static_cast<std::int32_t>(upper << 16 | half_bits(storage, low));
}

float unpack_pair(Storage storage, std::int32_t pair, bool high) {
  const auto bits = static_cast<std::uint32_t>(pair);
  return half_value(storage, static_cast<std::uint16_t>(high ? bits >> 16 : bits));
}

std::int32_t flagged_word(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  return bits == kEmpty ? bits - 1 : bits;
}

GlobalBuffer input_buffer(Storage storage, const std::vector<double>& values) {
  GlobalBuffer buffer;
  buffer.storage = storage;
  buffer.written.assign(values.size(), true);
  for (const double value : values)
    if (is_integer(storage))
      buffer.integers.push_back(static_cast<std::int32_t>(std::llround(value)));
    else if (storage == Storage::F64)
      buffer.doubles.push_back(value);
    else
      buffer.values.push_back(round_to(storage, static_cast<float>(value)));
  return buffer;
}

GlobalBuffer output_buffer(Storage storage, std::int64_t elements, bool fp64) {
  const auto count = static_cast<std::size_t>(elements);
  GlobalBuffer buffer;
  buffer.storage = storage;
  buffer.written.resize(count);
  if (is_integer(storage))
    buffer.integers.resize(count);
  else if (fp64 || storage == Storage::F64)
    buffer.doubles.resize(count);
  else
    buffer.values.resize(count);
  poison(buffer);
  return buffer;
}

void poison(GlobalBuffer& buffer) {
  buffer.written.assign(buffer.written.size(), false);
  std::ranges::fill(buffer.integers, kPoisonedInteger);
  std::ranges::fill(buffer.doubles, std::numeric_limits<double>::quiet_NaN());
  std::ranges::fill(buffer.values, std::numeric_limits<float>::quiet_NaN());
}

}  // namespace rondo::kernel
