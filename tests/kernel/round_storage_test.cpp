// Rounding to the storage types against a search among all 65,536 values of the type.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "compiler/kernel/simulate.h"

namespace rondo::kernel {
namespace {

// The value of a 16-bit pattern, straight from the definition of the format.
double decode(std::uint32_t bits, int exponent_bits, int fraction_bits) {
  const double sign = bits >> 15 != 0 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
  const double fraction = bits & ((1u << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

// Positive patterns are ordered like their values: find the neighbours of |value| by bisection, take the
// nearer, on a tie the even pattern. One step past the largest finite value counts as the next power of two,
// and becomes infinity.
double nearest(float value, int exponent_bits, int fraction_bits) {
  if (std::isnan(value)) return value;
  const double magnitude = std::abs(static_cast<double>(value));
  const std::uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  const auto at = [&](std::uint32_t bits) {
    if (bits < infinity) return decode(bits, exponent_bits, fraction_bits);
    return std::ldexp(1.0, 1 << (exponent_bits - 1));
  };
  std::uint32_t low = 0, high = infinity;
  if (magnitude >= at(infinity)) low = infinity;
  while (high - low > 1 && low != infinity) {
    const std::uint32_t middle = (low + high) / 2;
    (at(middle) <= magnitude ? low : high) = middle;
  }
  std::uint32_t chosen = low;
  if (low != infinity) {
    const double below = magnitude - at(low), above = at(high) - magnitude;
    if (above < below || (above == below && low % 2 != 0)) chosen = high;
  }
  return std::copysign(decode(chosen, exponent_bits, fraction_bits), static_cast<double>(value));
}

void check(Storage storage, float value) {
  const bool half = storage == Storage::F16;
  const double expected = nearest(value, half ? 5 : 8, half ? 10 : 7);
  const float actual = round_to(storage, value);
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << value;
    return;
  }
  ASSERT_EQ(std::bit_cast<std::uint32_t>(actual), std::bit_cast<std::uint32_t>(static_cast<float>(expected)))
      << storage_name(storage) << " " << value << " -> " << actual << ", expected " << expected;
}

class RoundStorage : public testing::TestWithParam<Storage> {};

TEST_P(RoundStorage, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const float v : {0.0f,
                        -0.0f,
                        inf,
                        -inf,
                        nan,
                        -nan,
                        std::numeric_limits<float>::max(),
                        65504.0f,
                        65519.99f,
                        65520.0f,
                        65536.0f,
                        -65520.0f,
                        0x1p-24f,
                        0x1p-25f,
                        0x1.000002p-25f,
                        0x1.8p-24f,
                        0x1p-14f,
                        0x1.ffcp-15f,
                        0x1.ffep-15f,
                        0x1.fffp-15f,
                        0x1p-126f,
                        0x1p-149f,
                        0x1.fep127f,
                        0x1.ffp127f,
                        0x1.fffffep127f,
                        1.0f,
                        3.14159265f})
    check(GetParam(), v);
}

TEST_P(RoundStorage, RandomBits) {
  std::mt19937 random(1);
  for (int i = 0; i < 200'000; ++i)
    check(GetParam(), std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  std::uniform_real_distribution<float> exponent(-30, 17), fraction(-2, 2);
  for (int i = 0; i < 200'000; ++i)
    check(GetParam(), std::ldexp(fraction(random), static_cast<int>(exponent(random))));
}

TEST_P(RoundStorage, EveryValueOfTheTypeAndEveryTieBetweenTwo) {
  const bool half = GetParam() == Storage::F16;
  for (std::uint32_t bits = 0; bits + 1 < 0x10000; ++bits) {
    const double value = decode(bits, half ? 5 : 8, half ? 10 : 7),
                 next = decode(bits + 1, half ? 5 : 8, half ? 10 : 7);
    check(GetParam(), static_cast<float>(value));
    if (std::isfinite(value) && std::isfinite(next))
      check(GetParam(), static_cast<float>((value + next) / 2));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, RoundStorage, testing::Values(Storage::BF16, Storage::F16),
                         [](const auto& type) { return std::string(storage_name(type.param)); });

TEST(Buffers, InputsAreRoundedAndDefinedOutputsPoisoned) {
  const GlobalBuffer input = input_buffer(Storage::BF16, {1.0, 1.00390625, 257});
  EXPECT_EQ(input.values, (std::vector<float>{1.0f, 1.0f, 256.0f}));
  EXPECT_EQ(input.written, std::vector<bool>(3, true));
  EXPECT_EQ(input_buffer(Storage::I32, {3, -4}).integers, (std::vector<std::int32_t>{3, -4}));
  const GlobalBuffer output = output_buffer(Storage::F16, 2);
  EXPECT_TRUE(std::isnan(output.values[0]) && std::isnan(output.values[1]));
  EXPECT_EQ(output.written, std::vector<bool>(2, false));
  EXPECT_EQ(output_buffer(Storage::I32, 5).integers.size(), 5u);
}

}  // namespace
}  // namespace rondo::kernel
