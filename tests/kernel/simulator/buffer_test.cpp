// What the simulator's memory holds before a kernel runs, and words that are their own flags.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "compiler/kernel/simulator/simulate.h"

namespace rondo::kernel {
namespace {

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

TEST(FlaggedWord, IsNeverTheAbsentOne) {
  for (const float value : {0.0f, -0.0f, 1.5f, -std::numeric_limits<float>::infinity()})
    EXPECT_EQ(std::bit_cast<float>(flagged_word(value)), value);
  const float absent = std::bit_cast<float>(kEmpty);
  ASSERT_TRUE(std::isnan(absent));
  EXPECT_NE(flagged_word(absent), kEmpty);
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(flagged_word(absent))));
}

}  // namespace
}  // namespace rondo::kernel
