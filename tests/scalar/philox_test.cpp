// The generator of draws: published vectors, moments and correlations.
#include "compiler/scalar/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace rondo::scalar {
namespace {

// kat_vectors of Random123, the authors' library: philox4x32, 10 rounds.
TEST(Philox, GivesThePublishedVectors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, ADrawIsTheUpperBitsOfTheFirstWord) {
  const PhiloxCounter words =
      philox({7, 5, 3, 2}, {std::bit_cast<std::uint32_t>(11.0f), philox_stream("drop")});
  EXPECT_EQ(philox_uniform(11.0f, philox_stream("drop"), 3, 5, 2, 7),
            static_cast<float>(words[0] >> 8) / 16777216.0f);
}

TEST(Philox, NamesHaveTheirOwnStreams) {
  EXPECT_EQ(philox_stream(""), 0x811C9DC5u);
  EXPECT_EQ(philox_stream("a"), 0xE40C292Cu);  // FNV-1a of 32 bits, the authors' test vectors
  EXPECT_EQ(philox_stream("foobar"), 0xBF9CF968u);
}

constexpr std::uint32_t kRows = 10, kSteps = 1000, kHeads = 10, kChannels = 100;
constexpr double kDraws = 1e7;
constexpr double kSigmas = 5;  // of a normal distribution: missed once in 1.7 million tests

using Place = std::array<std::uint32_t, 4>;  // row, step, head, channel
double at(const Place& p, float seed = 1, const char* name = "drop") {
  return static_cast<double>(philox_uniform(seed, philox_stream(name), p[0], p[1], p[2], p[3]));
}

void each_place(const std::function<void(const Place&)>& body) {
  for (std::uint32_t row = 0; row < kRows; ++row)
    for (std::uint32_t step = 0; step < kSteps; ++step)
      for (std::uint32_t head = 0; head < kHeads; ++head)
        for (std::uint32_t channel = 0; channel < kChannels; ++channel) body({row, step, head, channel});
}

// Powers of a uniform number have mean 1 / (k + 1) and variance 1 / (2 k + 1) - 1 / (k + 1)^2.
TEST(Philox, MomentsOfTenMillionDraws) {
  std::array<double, 4> sums{};
  double least = 1, most = 0;
  each_place([&](const Place& place) {
    const double u = at(place);
    least = std::min(least, u);
    most = std::max(most, u);
    double power = 1;
    for (double& sum : sums) sum += power *= u;
  });
  EXPECT_GE(least, 0.0);
  EXPECT_LT(most, 1.0);
  for (int k = 1; k <= 4; ++k) {
    const double mean = 1.0 / (k + 1), variance = 1.0 / (2 * k + 1) - mean * mean;
    EXPECT_NEAR(sums[static_cast<std::size_t>(k - 1)] / kDraws, mean, kSigmas * std::sqrt(variance / kDraws))
        << "moment " << k;
  }
}

// Between neighbours along each axis, two seeds and two names: the mean product of two independent centred
// draws has standard deviation 1 / 12 / sqrt(n).
TEST(Philox, NeighboursAreNotCorrelated) {
  std::array<double, 6> products{};
  each_place([&](const Place& place) {
    const double own = at(place) - 0.5;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      Place neighbour = place;
      ++neighbour[axis];
      products[axis] += own * (at(neighbour) - 0.5);
    }
    products[4] += own * (at(place, 2) - 0.5);
    products[5] += own * (at(place, 1, "keep") - 0.5);
  });
  for (const double product : products) EXPECT_NEAR(product / kDraws, 0, kSigmas / 12 / std::sqrt(kDraws));
}

// Chi-square of 256 cells: mean 255, standard deviation sqrt(510).
TEST(Philox, DrawsFillTheIntervalEvenly) {
  std::array<double, 256> counts{};
  each_place([&](const Place& place) { ++counts[static_cast<std::size_t>(at(place) * 256)]; });
  double chi = 0;
  for (const double count : counts) chi += (count - kDraws / 256) * (count - kDraws / 256) / (kDraws / 256);
  EXPECT_NEAR(chi, 255, kSigmas * std::sqrt(510.0));
}

}  // namespace
}  // namespace rondo::scalar
