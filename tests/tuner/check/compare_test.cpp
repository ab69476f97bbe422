#include "tuner/check/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/scalar/storage.h"
#include "tuner/data/host_problem.h"
#include "tuner/measure/samples.h"

namespace rondo::tuner {
namespace {

using kernel::Storage;

std::vector<double> exact_values(int count = 4096) {
  return runtime::random_values(Storage::F32, count, 1, 11);
}

std::vector<float> rounded(Storage storage, const std::vector<double>& values) {
  std::vector<float> result;
  for (const double value : values) result.push_back(scalar::round_to(storage, static_cast<float>(value)));
  return result;
}

class InEachStorage : public ::testing::TestWithParam<Storage> {};
INSTANTIATE_TEST_SUITE_P(Storages, InEachStorage,
                         ::testing::Values(Storage::F32, Storage::BF16, Storage::F16));

TEST_P(InEachStorage, WhatALoopGivesPasses) {
  const auto exact = exact_values();
  const auto loop = rounded(GetParam(), exact);
  const TensorCheck check =
      compare("h", GetParam(), std::vector<double>(loop.begin(), loop.end()), exact, loop);
  EXPECT_TRUE(check.passed) << check.text();
  EXPECT_EQ(check.error, check.loop_error);
}

TEST_P(InEachStorage, ASystematicErrorOfAFewUnitsFails) {
  const auto exact = exact_values();
  const auto loop = rounded(GetParam(), exact);
  std::vector<double> out(loop.begin(), loop.end());
  for (double& value : out) value *= 1 + 12 * scalar::unit_roundoff(GetParam());
  EXPECT_FALSE(compare("h", GetParam(), out, exact, loop).passed);
}

TEST_P(InEachStorage, OneWrongElementOfManyFails) {
  const auto exact = exact_values(65536);
  const auto loop = rounded(GetParam(), exact);
  std::vector<double> out(loop.begin(), loop.end());
  out[777] = exact[777] + (GetParam() == Storage::BF16 ? 0.06 : 0.01);  // hidden in the norm
  const TensorCheck check = compare("h", GetParam(), out, exact, loop);
  EXPECT_FALSE(check.passed) << check.text();
  EXPECT_NE(check.text().find("worst element"), std::string::npos);
}

TEST_P(InEachStorage, NanAndInfinityNeverPass) {
  const auto exact = exact_values();
  const auto loop = rounded(GetParam(), exact);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    std::vector<double> out(loop.begin(), loop.end());
    out.back() = bad;
    const TensorCheck check = compare("h", GetParam(), out, exact, loop);
    EXPECT_FALSE(check.passed);
    EXPECT_EQ(check.not_finite, 1);
  }
}

TEST(Compare, ZeroReferenceAsksForZero) {
  const std::vector<double> zero(16, 0.0);
  const std::vector<float> loop(16, 0.0f);
  EXPECT_TRUE(compare("g", Storage::F32, zero, zero, loop).passed);
  std::vector<double> out(16, 0.0);
  out[3] = 1e-3;
  EXPECT_FALSE(compare("g", Storage::F32, out, zero, loop).passed);
}

TEST(Samples, MediansAndSpread) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(median({}), 0);
  const Timing timing = timing_of({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(timing.median_s, 3);
  EXPECT_DOUBLE_EQ(timing.spread, (4.6 - 1.4) / 3) << "from the 10th to the 90th percentile";
  EXPECT_EQ(timing.samples, 5);
}

}  // namespace
}  // namespace rondo::tuner
