// Rounding to the storage types against a search among all 65,536 values of the type.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace rondo::scalar {
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

// ---- tf32 ----

// The neighbours of |value| among the numbers with 10 bits of fraction, by their definition; on a tie the one
// further from zero.
double nearest_tf32(float value) {
  int exponent = 0;
  (void)std::frexp(value, &exponent);  // |value| in [2^(exponent - 1), 2^exponent)
  const double step = std::ldexp(1.0, std::max(exponent - 1, -126) - 10);
  const double magnitude = std::floor(std::abs(static_cast<double>(value)) / step + 0.5) * step;
  return std::copysign(magnitude >= 0x1p128 ? std::numeric_limits<double>::infinity() : magnitude, value);
}

TEST(RoundTf32, IsTheNearestNumberTiesAwayFromZero) {
  std::mt19937 rng(5);
  for (int i = 0; i < 1'000'000; ++i) {
    // Half of them ties or next to one.
    std::uint32_t bits = static_cast<std::uint32_t>(rng());
    if (i % 2 == 0) bits = (bits & 0xFFFFE000u) + 0x0FFFu + bits % 3;
    const auto value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) continue;
    const float rounded = round_tf32(value);
    ASSERT_EQ(static_cast<double>(rounded), nearest_tf32(value)) << value;
    ASSERT_TRUE(is_tf32(rounded)) << value;
    ASSERT_EQ(std::signbit(rounded), std::signbit(value)) << value;
    ASSERT_EQ(is_tf32(value), value == rounded) << value;
  }
}

TEST(RoundTf32, KnownValues) {
  for (const float sign : {1.0f, -1.0f}) {
    EXPECT_EQ(round_tf32(sign * (1 + 0x1p-11f)), sign * (1 + 0x1p-10f));  // a tie
    EXPECT_EQ(round_tf32(sign * (1 + 0x3p-11f)), sign * (1 + 0x2p-10f));  // to even it would be the same
    EXPECT_EQ(round_tf32(sign * (1 + 0x1p-11f - 0x1p-23f)), sign);
    EXPECT_EQ(round_tf32(sign * 0x1p-137f), sign * 0x1p-136f);  // half of the least number
    EXPECT_EQ(round_tf32(sign * 0x1p-138f), 0.0f);
    EXPECT_EQ(round_tf32(sign * 0x1.FFCp127f), sign * 0x1.FFCp127f);  // the largest
    EXPECT_EQ(round_tf32(sign * 0x1.FFDFFEp127f), sign * 0x1.FFCp127f);
    EXPECT_EQ(round_tf32(sign * 0x1.FFEp127f), sign * std::numeric_limits<float>::infinity());
    EXPECT_EQ(round_tf32(sign * std::numeric_limits<float>::infinity()),
              sign * std::numeric_limits<float>::infinity());
  }
  for (const std::uint32_t nan : {0x7FFFFFFFu, 0xFFFFFFFFu, 0x7F800001u, 0x7FC00000u})
    EXPECT_TRUE(std::isnan(round_tf32(std::bit_cast<float>(nan)))) << nan;
}

// Two numbers of tf32 hold all of a float but, at times, its last bit.
TEST(RoundTf32, TwoPartsHoldAFloat) {
  std::mt19937 rng(6);
  int exact = 0, all = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(rng()));
    if (!std::isfinite(value) || std::abs(value) < 0x1p-100f || std::abs(value) > 0x1p127f) continue;
    const Tf32Parts parts = split_tf32(value);
    ASSERT_EQ(parts.big, round_tf32(value));
    ASSERT_TRUE(is_tf32(parts.small)) << value;
    const double left = std::abs(static_cast<double>(value) - parts.big - parts.small);
    const double last_place = std::ldexp(1.0, std::ilogb(value) - 23);
    ASSERT_LE(left, last_place) << value;
    exact += left == 0;
    ++all;
  }
  EXPECT_GT(2 * exact, all);
  for (const float value :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    const Tf32Parts parts = split_tf32(value);
    EXPECT_TRUE(std::isnan(parts.big + parts.small));
  }
}

// What the reference hands over unrounded keeps each bit.
TEST(Storage, DoublesAreAsTheyWere) {
  EXPECT_EQ(storage_bytes(Storage::F64), 8);
  EXPECT_STREQ(storage_name(Storage::F64), "fp64");
  EXPECT_FALSE(is_integer(Storage::F64));
  std::byte bytes[8];
  for (const double value : {1 + 0x1p-52, -0.0, 0x1p-1074, std::numeric_limits<double>::max(),
                             -std::numeric_limits<double>::infinity()}) {
    encode(Storage::F64, value, bytes);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(decode(Storage::F64, bytes)), std::bit_cast<std::uint64_t>(value));
  }
}

}  // namespace
}  // namespace rondo::scalar
