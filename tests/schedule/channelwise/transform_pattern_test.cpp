// Which entries the maps of segments have.
#include <gtest/gtest.h>

#include <random>

#include "compiler/schedule/channelwise/affine_transforms.h"

namespace rondo::schedule {
namespace {

TEST(TransformPattern, ANumberStandsForAll) {
  const TransformPattern all = 3;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k <= 3; ++k) EXPECT_TRUE(all.has(i, k));
  EXPECT_EQ(all.entries(), 12);
  EXPECT_EQ(all.products(), 3 * 3 * 4);
}

TEST(TransformPattern, EntriesAreEven) {
  const TransformPattern lower = TransformPattern::composed(2, [](int i, int k) { return i == 1 && k == 0; });
  EXPECT_FALSE(lower.has(0, 1));
  EXPECT_EQ(lower.entries(), 6);  // three coefficients and two constants
  EXPECT_EQ(lower.products(), 4 + 3);
}

// Products of steps, multiplied out: an entry is there where some number of steps gives it, or none at all.
TEST(TransformPattern, HasWhatAnyProductHas) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 rng(seed);
    const int states = 1 + static_cast<int>(rng() % 9);
    const auto at = [&](int i, int k) { return static_cast<std::size_t>(i * states + k); };
    std::vector<bool> step(static_cast<std::size_t>(states * states));
    for (std::size_t e = 0; e < step.size(); ++e) step[e] = rng() % 4 == 0;
    std::vector<bool> product(step.size(), false), any(step.size(), false);
    for (int i = 0; i < states; ++i) product[at(i, i)] = any[at(i, i)] = true;
    for (int steps = 0; steps < states; ++steps) {
      std::vector<bool> next(step.size(), false);
      for (int i = 0; i < states; ++i)
        for (int by = 0; by < states; ++by)
          for (int k = 0; k < states; ++k)
            if (step[at(i, by)] && product[at(by, k)]) next[at(i, k)] = any[at(i, k)] = true;
      product = next;
    }
    const TransformPattern pattern =
        TransformPattern::composed(states, [&](int i, int k) { return step[at(i, k)]; });
    for (int i = 0; i < states; ++i)
      for (int k = 0; k < states; ++k) ASSERT_EQ(pattern.has(i, k), any[at(i, k)]) << "seed " << seed;
    EXPECT_EQ(pattern.entries() % 2, 0);
  }
}

}  // namespace
}  // namespace rondo::schedule
