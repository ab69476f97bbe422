#include "compiler/step/reference/vector_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "compiler/support/split_mix.h"

namespace rondo::step::detail {
namespace {

// The loops as they are written down, in the instructions that every x86-64 has: the wide ones must give
// their bits.
template <class Real>
class VectorLoops : public ::testing::Test {
 protected:
  std::vector<Real> numbers(std::size_t count) {
    std::vector<Real> result(count);
    std::normal_distribution<double> draw;
    for (Real& number : result) number = static_cast<Real>(draw(random_));
    return result;
  }
  std::vector<std::vector<Real>> vectors(std::size_t count, std::size_t dim) {
    std::vector<std::vector<Real>> result;
    for (std::size_t v = 0; v < count; ++v) result.push_back(numbers(dim));
    return result;
  }
  using Products = std::vector<std::vector<Real>>;
  template <class Element>
  static Products multiplied(const std::vector<Element>& matrix, const Products& vectors) {
    return by(vectors, [&](auto from, auto to) {
      multiply(matrix.data(), from, vectors[0].size(), vectors[0].size(), to);
    });
  }
  template <class Element>
  static Products multiplied_transposed(const std::vector<Element>& matrix, const Products& vectors) {
    return by(vectors, [&](auto from, auto to) {
      multiply_transposed(matrix.data(), from, vectors[0].size(), vectors[0].size(), to);
    });
  }
  static constexpr std::array<std::size_t, 7> kDims = {1, 3, 7, 8, 33, 64, 130};
  static constexpr std::array<std::size_t, 5> kCounts = {1, 2, 3, 5, 7};  // of vectors

 private:
  static Products by(const Products& vectors, const auto& product) {
    Products results(vectors.size(), std::vector<Real>(vectors[0].size()));
    std::vector<const Real*> from;
    std::vector<Real*> to;
    for (const auto& vector : vectors) from.push_back(vector.data());
    for (auto& result : results) to.push_back(result.data());
    product(std::span<const Real* const>(from), std::span<Real* const>(to));
    return results;
  }
  std::mt19937 random_{5};
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(VectorLoops, Reals);

TYPED_TEST(VectorLoops, ProductsHaveTheBitsOfEightRunningSums) {
  for (const std::size_t dim : this->kDims)
    for (const std::size_t count : this->kCounts) {
      const auto matrix = this->numbers(dim * dim);
      const auto vectors = this->vectors(count, dim);
      const auto results = this->multiplied(matrix, vectors);
      for (std::size_t v = 0; v < count; ++v)
        for (std::size_t i = 0; i < dim; ++i) {
          std::array<TypeParam, kLanes> sums{};
          for (std::size_t j = 0; j < dim; ++j) {
            const volatile TypeParam product = matrix[i * dim + j] * vectors[v][j];  // never fused
            sums[j % kLanes] += product;
          }
          EXPECT_EQ(results[v][i], std::accumulate(sums.begin(), sums.end(), TypeParam{0}))
              << dim << ' ' << v << " of " << count << ' ' << i;
        }
    }
}

TYPED_TEST(VectorLoops, TransposedProductsAddRowsInOrder) {
  for (const std::size_t dim : this->kDims)
    for (const std::size_t count : this->kCounts) {
      const auto matrix = this->numbers(dim * dim);
      const auto vectors = this->vectors(count, dim);
      const auto results = this->multiplied_transposed(matrix, vectors);
      for (std::size_t v = 0; v < count; ++v)
        for (std::size_t j = 0; j < dim; ++j) {
          TypeParam sum{0};
          for (std::size_t i = 0; i < dim; ++i) {
            const volatile TypeParam product = matrix[i * dim + j] * vectors[v][i];
            sum += product;
          }
          EXPECT_EQ(results[v][j], sum) << dim << ' ' << v << " of " << count << ' ' << j;
        }
    }
}

// What a matrix is kept as does not matter, as long as its numbers are the same.
TYPED_TEST(VectorLoops, ProductsOfMatricesInFp32HaveTheBitsOfTheSameInReal) {
  for (const std::size_t dim : this->kDims)
    for (const std::size_t count : this->kCounts) {
      auto matrix = this->numbers(dim * dim);
      const auto vectors = this->vectors(count, dim);
      for (TypeParam& number : matrix) number = static_cast<float>(number);
      const std::vector<float> in_fp32(matrix.begin(), matrix.end());
      EXPECT_EQ(this->multiplied(in_fp32, vectors), this->multiplied(matrix, vectors)) << dim;
      EXPECT_EQ(this->multiplied_transposed(in_fp32, vectors), this->multiplied_transposed(matrix, vectors))
          << dim << " transposed";
    }
}

TYPED_TEST(VectorLoops, OuterProductsAreAddedOneAfterTheOther) {
  for (const std::size_t dim : this->kDims)
    for (const std::size_t count : {0, 1, 7, 8, 19, 47}) {
      const auto left = this->numbers(count * dim), right = this->numbers(count * dim);
      auto sum = this->numbers(dim * dim);
      auto expected = sum;
      add_outer_products(left.data(), right.data(), count, dim, dim, dim, sum.data());
      for (std::size_t k = 0; k < count; ++k)
        for (std::size_t i = 0; i < dim; ++i)
          for (std::size_t j = 0; j < dim; ++j) {
            const volatile TypeParam product = right[k * dim + j] * left[k * dim + i];
            expected[i * dim + j] += product;
          }
      EXPECT_EQ(sum, expected) << dim << ' ' << count;
    }
}

TYPED_TEST(VectorLoops, SomeRowsOfOuterProductsAreThoseOfAll) {
  for (const std::size_t dim : this->kDims)
    for (const std::size_t count : {0, 1, 7, 16, 19})
      for (const std::size_t rows : {1, 5, 17}) {
        const auto left = this->numbers(count * dim), right = this->numbers(count * dim);
        auto sum = this->numbers(dim * dim), some = sum;
        add_outer_products(left.data(), right.data(), count, dim, dim, dim, sum.data());
        for (std::size_t i = 0; i < dim; i += rows)
          add_outer_products(left.data() + i, right.data(), count, dim, dim, std::min(rows, dim - i),
                             some.data() + i * dim);
        EXPECT_EQ(some, sum) << dim << ' ' << count << ' ' << rows;
      }
}

TYPED_TEST(VectorLoops, ErrorsAreDrawnByTheirPlace) {
  for (const std::size_t count : this->kDims) {
    auto values = this->numbers(count);
    const auto before = values;
    std::vector<double> bounds(count);
    for (std::size_t i = 0; i < count; ++i) bounds[i] = std::abs(static_cast<double>(values[i])) * 0x1p-9;
    add_errors(values.data(), bounds.data(), count, 0.75, 1000);
    for (std::size_t i = 0; i < count; ++i) {
      const auto drawn = static_cast<std::int64_t>(split_mix((1000 + i) * kSplitMixStep));
      const volatile double error = 0.75 * bounds[i] * (static_cast<double>(drawn) * 0x1p-63);
      EXPECT_EQ(values[i], static_cast<TypeParam>(static_cast<float>(static_cast<double>(before[i]) + error)))
          << i;
      EXPECT_LE(std::abs(static_cast<double>(values[i]) - static_cast<double>(before[i])), bounds[i] + 1e-6);
    }
  }
}

TYPED_TEST(VectorLoops, ErrorsOfSumsAreThoseOfTheirBounds) {
  for (const std::size_t count : this->kDims) {
    auto values = this->numbers(count), expected = values;
    std::vector<double> right(count), bounds(count);
    for (std::size_t i = 0; i < count; ++i) {
      right[i] = std::abs(static_cast<double>(values[count - 1 - i])) * 0x1p-9;
      bounds[i] = 0.7 * right[i];
    }
    add_errors_of_sums(values.data(), 0.7, right.data(), count, 0.75, 1000);
    add_errors(expected.data(), bounds.data(), count, 0.75, 1000);
    EXPECT_EQ(values, expected) << count;
  }
}

}  // namespace
}  // namespace rondo::step::detail
