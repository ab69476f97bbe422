#include "compiler/step/reference/vector_loops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "compiler/support/split_mix.h"

// Compiled with -ffp-contract=off (CMakeLists.txt): where a CPU fuses a multiplication and an addition,
// results would differ.
namespace rondo::step::detail {
namespace {

// ---- instruction sets ----

enum class InstructionSet { Baseline, Avx2, Avx512 };

InstructionSet widest() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return InstructionSet::Avx512;
  if (__builtin_cpu_supports("avx2")) return InstructionSet::Avx2;
#endif
  return InstructionSet::Baseline;
}

#ifdef __x86_64__
template <class Loop>
[[gnu::target("avx2")]] void in_avx2(const Loop& loop) {
  loop();
}
template <class Loop>
[[gnu::target("avx512f,avx512dq")]] void in_avx512(const Loop& loop) {
  loop();
}
#endif

// Runs a loop that is inlined into a function of the CPU's instruction set.
template <class Loop>
void in_widest(const Loop& loop) {
  static const InstructionSet set = widest();
#ifdef __x86_64__
  if (set == InstructionSet::Avx512) return in_avx512(loop);
  if (set == InstructionSet::Avx2) return in_avx2(loop);
#endif
  if (set == InstructionSet::Baseline) loop();
}

// ---- loops ----

constexpr std::size_t kRows = 4;       // of a matrix at a time: the chains of their additions overlap
constexpr std::size_t kProducts = 16;  // of two vectors at a time: a sum is read and written once for all

template <std::size_t rows, class Element, class Real>
[[gnu::always_inline]] inline void dot_rows(const Element* matrix, const Real* vector, std::size_t dim,
                                            Real* result) {
  std::array<std::array<Real, kLanes>, rows> sums{};
  std::size_t j = 0;
  for (; j + kLanes <= dim; j += kLanes)
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        sums[row][lane] += static_cast<Real>(matrix[row * dim + j + lane]) * vector[j + lane];
  for (; j < dim; ++j)
    for (std::size_t row = 0; row < rows; ++row)
      sums[row][j % kLanes] += static_cast<Real>(matrix[row * dim + j]) * vector[j];
  for (std::size_t row = 0; row < rows; ++row)
    result[row] = std::accumulate(sums[row].begin(), sums[row].end(), Real{0});
}

// Adds scaled rows of a matrix, in their order.
template <std::size_t rows, class Element, class Real>
[[gnu::always_inline]] inline void add_rows(const Element* matrix, const std::array<Real, rows>& factors,
                                            std::size_t dim, Real* __restrict__ result) {
  for (std::size_t j = 0; j < dim; ++j) {
    Real sum = result[j];
    for (std::size_t row = 0; row < rows; ++row)
      sum += static_cast<Real>(matrix[row * dim + j]) * factors[row];
    result[j] = sum;
  }
}

// The elements at `first`, `stride` apart.
template <std::size_t count, class Real>
[[gnu::always_inline]] inline std::array<Real, count> some(const Real* first, std::size_t stride) {
  std::array<Real, count> result;
  for (std::size_t k = 0; k < count; ++k) result[k] = first[k * stride];
  return result;
}

// Adds to a row of sums the products from the k-th on, `most` at a time and what is left in halves of that.
template <std::size_t most, class Real>
[[gnu::always_inline]] inline void add_products(const Real* left, const Real* right, std::size_t k,
                                                std::size_t count, std::size_t dim, Real* sum) {
  for (; k + most <= count; k += most)
    add_rows<most>(right + k * dim, some<most>(left + k * dim, dim), dim, sum);
  if constexpr (most > 1) add_products<most / 2>(left, right, k, count, dim, sum);
}

}  // namespace

template <class Element, class Real>
void multiply(const Element* matrix, const Real* vector, std::size_t dim, Real* result) {
  in_widest([=]() __attribute__((always_inline)) {
    std::size_t i = 0;
    for (; i + kRows <= dim; i += kRows) dot_rows<kRows>(matrix + i * dim, vector, dim, result + i);
    for (; i < dim; ++i) dot_rows<1>(matrix + i * dim, vector, dim, result + i);
  });
}

template <class Element, class Real>
void multiply_transposed(const Element* matrix, const Real* vector, std::size_t dim, Real* result) {
  std::fill_n(result, dim, Real{0});
  in_widest([=]() __attribute__((always_inline)) {
    std::size_t i = 0;
    for (; i + kRows <= dim; i += kRows)
      add_rows<kRows>(matrix + i * dim, some<kRows>(vector + i, 1), dim, result);
    for (; i < dim; ++i) add_rows<1>(matrix + i * dim, some<1>(vector + i, 1), dim, result);
  });
}

template <class Real>
void add_outer_products(const Real* left, const Real* right, std::size_t count, std::size_t dim, Real* sum) {
  in_widest([=]() __attribute__((always_inline)) {
    for (std::size_t i = 0; i < dim; ++i)
      add_products<kProducts>(left + i, right, 0, count, dim, sum + i * dim);
  });
}

template <class Real>
void add_row_of_outer_products(const Real* left, const Real* right, std::size_t count, std::size_t dim,
                               Real* row) {
  in_widest([=]()
                __attribute__((always_inline)) { add_products<kProducts>(left, right, 0, count, dim, row); });
}

void bound_products(double left, const double* right, std::size_t count, double factor, double* bounds) {
  in_widest([=]() __attribute__((always_inline)) {
    double* const __restrict__ to = bounds;
    for (std::size_t i = 0; i < count; ++i) to[i] = factor * std::sqrt(left * right[i]);
  });
}

template <class Real>
void add_errors(Real* values, const double* bounds, std::size_t count, double amplitude,
                std::uint64_t first) {
  in_widest([=]() __attribute__((always_inline)) {
    Real* const __restrict__ to = values;
    for (std::size_t i = 0; i < count; ++i) {
      const auto drawn = static_cast<std::int64_t>(split_mix((first + i) * kSplitMixStep));
      const double error = amplitude * bounds[i] * (static_cast<double>(drawn) * 0x1p-63);
      to[i] = static_cast<Real>(static_cast<float>(static_cast<double>(to[i]) + error));
    }
  });
}

template void multiply(const float*, const float*, std::size_t, float*);
template void multiply(const float*, const double*, std::size_t, double*);
template void multiply(const double*, const double*, std::size_t, double*);
template void multiply_transposed(const float*, const float*, std::size_t, float*);
template void multiply_transposed(const float*, const double*, std::size_t, double*);
template void multiply_transposed(const double*, const double*, std::size_t, double*);
template void add_outer_products(const float*, const float*, std::size_t, std::size_t, float*);
template void add_outer_products(const double*, const double*, std::size_t, std::size_t, double*);
template void add_row_of_outer_products(const float*, const float*, std::size_t, std::size_t, float*);
template void add_row_of_outer_products(const double*, const double*, std::size_t, std::size_t, double*);
template void add_errors(float*, const double*, std::size_t, double, std::uint64_t);
template void add_errors(double*, const double*, std::size_t, double, std::uint64_t);

}  // namespace rondo::step::detail
