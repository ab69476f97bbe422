// Gradients of matrices: rows of sums of outer products, whenever their factors are multiplied.
#include "compiler/step/reference/matrix_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace rondo::step::detail {
namespace {

constexpr std::size_t kDim = 35;  // more than two blocks of rows

std::vector<double> numbers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> draw(-1, 1);
  std::vector<double> result(count);
  for (double& number : result) number = draw(random);
  return result;
}

// Of 5 steps, which all wait, and of 50, of which some are added up before.
TEST(Factors, RowsAreSumsInTheOrderOfSteps) {
  const std::vector<MatrixGradient> two(2);
  const RunOptions<double> options;
  for (const std::size_t steps : {5, 50}) {
    Factors<double> factors(two, kDim, {{kDim, kDim}, {kDim, kDim}}, static_cast<std::int64_t>(steps),
                            options);
    for (const int again : {0, 1}) {  // the second time without the first
      factors.begin();
      Noise none(nullptr);
      std::vector<double> expected(2 * kDim * kDim);
      for (std::size_t step = 0; step < steps; ++step)
        for (std::size_t k = 0; k < 2; ++k) {
          const auto left = numbers(kDim, 4 * step + 2 * k + again);
          const auto right = numbers(kDim, 1000 + 4 * step + 2 * k + again);
          factors.add(k, left.data(), right.data(), none);
          for (std::size_t i = 0; i < kDim; ++i)
            for (std::size_t j = 0; j < kDim; ++j) {
              const volatile double product = right[j] * left[i];  // never fused
              expected[(k * kDim + i) * kDim + j] += product;
            }
        }
      factors.end(none);
      for (std::size_t k = 0; k < 2; ++k)
        for (const auto& [first, rows] : {std::pair<std::size_t, std::size_t>{0, 16}, {16, 16}, {32, 3}}) {
          std::vector<double> result(rows * kDim);
          factors.sum_rows(k, first, rows, result.data());
          const auto begin = expected.begin() + static_cast<std::ptrdiff_t>((k * kDim + first) * kDim);
          EXPECT_EQ(result, std::vector(begin, begin + static_cast<std::ptrdiff_t>(rows * kDim)))
              << steps << ' ' << k << ' ' << first;
        }
    }
  }
}

// They are at most the unit roundoff of fp32 times the norms over time, and follow the row, not the call.
TEST(Factors, ErrorsOfRowsFollowTheNorms) {
  const std::vector<MatrixGradient> one(1);
  for (const bool steady : {false, true}) {
    Perturbation perturbation;
    perturbation.steady = steady;
    RunOptions<double> options;
    options.perturbation = &perturbation;
    Factors<double> factors(one, kDim, {{kDim, kDim}}, 3, options);
    factors.begin();
    Noise noise(&perturbation);
    noise.begin(7);
    std::vector<double> expected(kDim * kDim), lefts(kDim), rights(kDim);
    for (std::size_t step = 0; step < 3; ++step) {
      auto left = numbers(kDim, step), right = numbers(kDim, 1000 + step);
      for (auto* factor : {&left, &right})  // which errors of 2^-24 hardly change
        for (double& number : *factor) number = static_cast<float>(number);
      factors.add(0, left.data(), right.data(), noise);
      for (std::size_t i = 0; i < kDim; ++i) {
        lefts[i] += left[i] * left[i];
        rights[i] += right[i] * right[i];
        for (std::size_t j = 0; j < kDim; ++j) expected[i * kDim + j] += right[j] * left[i];
      }
    }
    factors.end(noise);
    std::vector<double> all(kDim * kDim), last(3 * kDim);
    factors.sum_rows(0, 0, kDim, all.data());
    factors.sum_rows(0, 32, 3, last.data());
    EXPECT_EQ(last, std::vector(all.end() - 3 * kDim, all.end()));
    double most = 0;
    for (std::size_t i = 0; i < kDim; ++i)
      for (std::size_t j = 0; j < kDim; ++j) {
        const double error = std::abs(all[i * kDim + j] - expected[i * kDim + j]);
        most = std::max(most, error / (0x1p-24 * std::sqrt(lefts[i] * rights[j])));
      }
    EXPECT_GT(most, 1) << "the sums err beside their factors";
    EXPECT_LT(most, 5);  // two factors, the sum, and its rounding to fp32
  }
}

}  // namespace
}  // namespace rondo::step::detail
