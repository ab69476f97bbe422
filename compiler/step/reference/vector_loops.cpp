#include "compiler/step/reference/vector_loops.h"

#include <algorithm>
#include <array>
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

// Of a matrix at a time: the chains of their additions overlap.
constexpr std::size_t kRows = 4;
// Of a sum of outer products at a time, each with kLanes columns that stay in registers meanwhile.
constexpr std::size_t kSumRows = 16;

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

// The elements from `first` on.
template <std::size_t count, class Real>
[[gnu::always_inline]] inline std::array<Real, count> some(const Real* first) {
  std::array<Real, count> result;
  std::copy_n(first, count, result.begin());
  return result;
}

// A draw by its counter, uniform in [-1, 1).
[[gnu::always_inline]] inline double drawn(std::uint64_t counter) {
  return static_cast<double>(static_cast<std::int64_t>(split_mix(counter * kSplitMixStep))) * 0x1p-63;
}

// A tile of a sum: `rows` by kLanes numbers. The loops over lanes stay loops until they are vectorised.
template <std::size_t rows, class Real>
[[gnu::always_inline]] inline void add_to_tile(const Real* left, const Real* right, std::size_t count,
                                               std::size_t dim, Real* sum) {
  std::array<std::array<Real, kLanes>, rows> tile;
  for (std::size_t row = 0; row < rows; ++row)
#pragma GCC unroll 1
    for (std::size_t lane = 0; lane < kLanes; ++lane) tile[row][lane] = sum[row * dim + lane];
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t row = 0; row < rows; ++row)
#pragma GCC unroll 1
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        tile[row][lane] += right[k * dim + lane] * left[k * dim + row];
  for (std::size_t row = 0; row < rows; ++row)
#pragma GCC unroll 1
    for (std::size_t lane = 0; lane < kLanes; ++lane) sum[row * dim + lane] = tile[row][lane];
}

// Some rows of a sum, from column 0 on.
template <std::size_t rows, class Real>
[[gnu::always_inline]] inline void add_to_rows(const Real* left, const Real* right, std::size_t count,
                                               std::size_t dim, Real* sum) {
  std::size_t j = 0;
  for (; j + kLanes <= dim; j += kLanes) add_to_tile<rows>(left, right + j, count, dim, sum + j);
  for (; j < dim; ++j)
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t k = 0; k < count; ++k) sum[row * dim + j] += right[k * dim + j] * left[k * dim + row];
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
      add_rows<kRows>(matrix + i * dim, some<kRows>(vector + i), dim, result);
    for (; i < dim; ++i) add_rows<1>(matrix + i * dim, some<1>(vector + i), dim, result);
  });
}

template <class Real>
void add_outer_products(const Real* left, const Real* right, std::size_t count, std::size_t dim,
                        std::size_t rows, Real* sum) {
  in_widest([=]() __attribute__((always_inline)) {
    std::size_t i = 0;
    for (; i + kSumRows <= rows; i += kSumRows)
      add_to_rows<kSumRows>(left + i, right, count, dim, sum + i * dim);
    for (; i < rows; ++i) add_to_rows<1>(left + i, right, count, dim, sum + i * dim);
  });
}

template <class Real>
void add_errors(Real* values, const double* bounds, std::size_t count, double amplitude,
                std::uint64_t first) {
  in_widest([=]() __attribute__((always_inline)) {
    Real* const __restrict__ to = values;
    for (std::size_t i = 0; i < count; ++i) {
      const double error = amplitude * bounds[i] * drawn(first + i);
      to[i] = static_cast<Real>(static_cast<float>(static_cast<double>(to[i]) + error));
    }
  });
}

template <class Real>
void add_errors_of_sums(Real* values, double left, const double* right, std::size_t count, double amplitude,
                        std::uint64_t first) {
  in_widest([=]() __attribute__((always_inline)) {
    Real* const __restrict__ to = values;
    for (std::size_t i = 0; i < count; ++i) {
      const double error = amplitude * (left * right[i]) * drawn(first + i);
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
template void add_outer_products(const float*, const float*, std::size_t, std::size_t, std::size_t, float*);
template void add_outer_products(const double*, const double*, std::size_t, std::size_t, std::size_t,
                                 double*);
template void add_errors(float*, const double*, std::size_t, double, std::uint64_t);
template void add_errors(double*, const double*, std::size_t, double, std::uint64_t);
template void add_errors_of_sums(float*, double, const double*, std::size_t, double, std::uint64_t);
template void add_errors_of_sums(double*, double, const double*, std::size_t, double, std::uint64_t);

}  // namespace rondo::step::detail
