// The numbers of SplitMix64.
#include "compiler/support/split_mix.h"

#include <gtest/gtest.h>

namespace rondo {
namespace {

// The first three of seed 0, as the authors' program prints them (https://prng.di.unimi.it/splitmix64.c).
TEST(SplitMix, GivesTheNumbersOfItsAuthors) {
  EXPECT_EQ(split_mix(1 * kSplitMixStep), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(split_mix(2 * kSplitMixStep), 0x6E789E6AA1B965F4U);
  EXPECT_EQ(split_mix(3 * kSplitMixStep), 0x06C45D188009454FU);
}

}  // namespace
}  // namespace rondo
