// Many numbers at once are what each is alone.
#include "compiler/scalar/storage_blocks.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace rondo::scalar {
namespace {

constexpr Storage kTypes[] = {Storage::F32, Storage::BF16, Storage::F16};

std::uint64_t bits_of(Storage storage, const std::byte* at) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(storage_bytes(storage)));
  return bits;
}

// All floats whose upper half is any and whose lower half is at a boundary of rounding, and random ones.
std::vector<float> floats() {
  std::vector<float> values;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper)
    for (const std::uint32_t lower : {0u, 1u, 0x0FFFu, 0x1000u, 0x1001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu})
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
  std::mt19937 random(5);
  for (int i = 0; i < 100'000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  return values;
}

TEST(StorageBlocks, EncodeAsOneNumberIs) {
  const std::vector<float> values = floats();
  for (const Storage storage : kTypes) {
    const auto size = static_cast<std::size_t>(storage_bytes(storage));
    std::vector<std::byte> bytes(values.size() * size + 1);
    encode_block(storage, values, bytes.data() + 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::byte* const at = bytes.data() + 1 + i * size;
      std::byte alone[4] = {};
      encode(storage, static_cast<double>(values[i]), alone);
      if (std::isnan(values[i]))
        ASSERT_TRUE(std::isnan(decode(storage, at))) << i;
      else
        ASSERT_EQ(bits_of(storage, at), bits_of(storage, alone)) << values[i] << storage_name(storage);
    }
  }
}

TEST(StorageBlocks, DecodeAllHalves) {
  for (const Storage storage : {Storage::BF16, Storage::F16}) {
    std::vector<std::byte> bytes(2 * 0x10000 + 1);
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) std::memcpy(&bytes[1 + 2 * bits], &bits, 2);
    std::vector<float> values(0x10000);
    decode_block(storage, bytes.data() + 1, values);
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(values[bits]),
                std::bit_cast<std::uint32_t>(half_value(storage, static_cast<std::uint16_t>(bits))))
          << bits;
  }
}

TEST(StorageBlocks, CountsThePoisonOfAllTypes) {
  for (const Storage storage : {Storage::F32, Storage::BF16, Storage::F16, Storage::I32, Storage::U8}) {
    const auto size = static_cast<std::size_t>(storage_bytes(storage));
    std::vector<std::byte> bytes(100 * size + 1, std::byte{kPoisonByte});
    EXPECT_EQ(poisoned_in_block(storage, bytes.data() + 1, 100), 100U);
    bytes[1 + 7 * size] = bytes[1 + 99 * size] = std::byte{0};
    EXPECT_EQ(poisoned_in_block(storage, bytes.data() + 1, 100), 98U);
  }
}

TEST(StorageBlocks, FiniteIsWhatRoundsToAFiniteNumber) {
  for (const Storage storage : kTypes)
    for (const float value : floats())
      ASSERT_EQ(finite_block(storage, {&value, 1}), std::isfinite(round_to(storage, value)))
          << value << storage_name(storage);
  std::vector<float> many(1000, 1.0f);
  EXPECT_TRUE(finite_block(Storage::F16, many));
  many[517] = 70000;
  EXPECT_FALSE(finite_block(Storage::F16, many));
  EXPECT_TRUE(finite_block(Storage::BF16, many));
}

}  // namespace
}  // namespace rondo::scalar
