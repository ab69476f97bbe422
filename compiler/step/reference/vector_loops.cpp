#include "compiler/step/reference/vector_loops.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <type_traits>

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

constexpr std::size_t kPanel = 8;  // rows of a matrix that stay in the L1 while all vectors are multiplied
constexpr std::size_t kAdded = 4;  // rows that are added up before a result is written
// Vectors that are multiplied at a time, so that what is made of them fits in registers.
constexpr std::size_t kFactors = 2, kScaled = 4;
// Of a sum of outer products at a time, each with kLanes columns that stay in registers meanwhile.
constexpr std::size_t kSumRows = 16;

template <std::size_t count>
using Count = std::integral_constant<std::size_t, count>;

// Pointers to the same place of several vectors.
template <std::size_t count, class Number>
using Places = std::array<Number*, count>;
template <std::size_t count, class Number>
[[gnu::always_inline]] inline Places<count, Number> places(Number* const* vectors, std::size_t place) {
  Places<count, Number> result;
  for (std::size_t v = 0; v < count; ++v) result[v] = vectors[v] + place;
  return result;
}

// The loops over lanes stay loops until they are vectorised.
template <std::size_t rows, std::size_t count, class Element, class Real>
[[gnu::always_inline]] inline void dot_rows(const Element* matrix, const Places<count, const Real>& vectors,
                                            std::size_t dim, const Places<count, Real>& results) {
  std::array<std::array<std::array<Real, kLanes>, count>, rows> sums{};
  std::size_t j = 0;
  for (; j + kLanes <= dim; j += kLanes)
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t v = 0; v < count; ++v)
#pragma GCC unroll 1
        for (std::size_t lane = 0; lane < kLanes; ++lane)
          sums[row][v][lane] += static_cast<Real>(matrix[row * dim + j + lane]) * vectors[v][j + lane];
  for (; j < dim; ++j)
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t v = 0; v < count; ++v)
        sums[row][v][j % kLanes] += static_cast<Real>(matrix[row * dim + j]) * vectors[v][j];
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t v = 0; v < count; ++v)
      results[v][row] = std::accumulate(sums[row][v].begin(), sums[row][v].end(), Real{0});
}

// So many rows as keep sums in registers, and the chains of their additions overlap.
template <std::size_t count, class Element, class Real>
[[gnu::always_inline]] inline void dot_panel(const Element* matrix, std::size_t first, std::size_t end,
                                             const Real* const* vectors, std::size_t dim,
                                             Real* const* results) {
  constexpr std::size_t kRows = count == 1 ? kPanel : 2;
  const Places<count, const Real> factors = places<count>(vectors, 0);
  std::size_t i = first;
  for (; i + kRows <= end; i += kRows)
    dot_rows<kRows, count>(matrix + i * dim, factors, dim, places<count>(results, i));
  for (; i < end; ++i) dot_rows<1, count>(matrix + i * dim, factors, dim, places<count>(results, i));
}

// Adds scaled rows of a matrix, in their order; of vector v by its elements from `first` on.
template <std::size_t rows, std::size_t count, class Element, class Real>
[[gnu::always_inline]] inline void add_rows(const Element* matrix, std::size_t first,
                                            const Real* const* vectors, std::size_t dim,
                                            Real* const* results) {
  std::array<std::array<Real, rows>, count> factors;
  for (std::size_t v = 0; v < count; ++v) std::copy_n(vectors[v] + first, rows, factors[v].begin());
  const Places<count, Real> to = places<count>(results, 0);
  for (std::size_t j = 0; j < dim; ++j) {
    std::array<Real, rows> column;
    for (std::size_t row = 0; row < rows; ++row) column[row] = static_cast<Real>(matrix[row * dim + j]);
    for (std::size_t v = 0; v < count; ++v) {
      Real sum = to[v][j];
      for (std::size_t row = 0; row < rows; ++row) sum += column[row] * factors[v][row];
      to[v][j] = sum;
    }
  }
}

// Calls a loop for all of some vectors, `most` of them at a time and then fewer: loop(how many, first).
template <std::size_t most, class Loop>
[[gnu::always_inline]] inline void in_groups(std::size_t first, std::size_t count, const Loop& loop) {
  for (; first + most <= count; first += most) loop(Count<most>(), first);
  if constexpr (most > 1) in_groups<most - 1>(first, count, loop);
}

// A draw by its counter, uniform in [-1, 1).
[[gnu::always_inline]] inline double drawn(std::uint64_t counter) {
  return static_cast<double>(static_cast<std::int64_t>(split_mix(counter * kSplitMixStep))) * 0x1p-63;
}

// A tile of a sum: `rows` by kLanes numbers. The loops over lanes stay loops until they are vectorised.
template <std::size_t rows, class Real>
[[gnu::always_inline]] inline void add_to_tile(const Real* left, const Real* right, std::size_t count,
                                               std::size_t left_dim, std::size_t dim, Real* sum) {
  std::array<std::array<Real, kLanes>, rows> tile;
  for (std::size_t row = 0; row < rows; ++row)
#pragma GCC unroll 1
    for (std::size_t lane = 0; lane < kLanes; ++lane) tile[row][lane] = sum[row * dim + lane];
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t row = 0; row < rows; ++row)
#pragma GCC unroll 1
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        tile[row][lane] += right[k * dim + lane] * left[k * left_dim + row];
  for (std::size_t row = 0; row < rows; ++row)
#pragma GCC unroll 1
    for (std::size_t lane = 0; lane < kLanes; ++lane) sum[row * dim + lane] = tile[row][lane];
}

// Some rows of a sum, from column 0 on.
template <std::size_t rows, class Real>
[[gnu::always_inline]] inline void add_to_rows(const Real* left, const Real* right, std::size_t count,
                                               std::size_t left_dim, std::size_t dim, Real* sum) {
  std::size_t j = 0;
  for (; j + kLanes <= dim; j += kLanes) add_to_tile<rows>(left, right + j, count, left_dim, dim, sum + j);
  for (; j < dim; ++j)
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t k = 0; k < count; ++k)
        sum[row * dim + j] += right[k * dim + j] * left[k * left_dim + row];
}

}  // namespace

template <class Element, class Real>
void multiply(const Element* matrix, std::span<const Real* const> vectors, std::size_t rows, std::size_t dim,
              std::span<Real* const> results) {
  in_widest([=]() __attribute__((always_inline)) {
    for (std::size_t first = 0; first < rows; first += kPanel) {
      const std::size_t end = std::min(first + kPanel, rows);
      in_groups<kFactors>(
          0,
          vectors.size(), [=]<std::size_t count>(Count<count>, std::size_t v) __attribute__((always_inline)) {
            dot_panel<count>(matrix, first, end, vectors.data() + v, dim, results.data() + v);
          });
    }
  });
}

template <class Element, class Real>
void multiply_transposed(const Element* matrix, std::span<const Real* const> vectors, std::size_t rows,
                         std::size_t dim, std::span<Real* const> results) {
  for (Real* const result : results) std::fill_n(result, dim, Real{0});
  in_widest([=]() __attribute__((always_inline)) {
    for (std::size_t first = 0; first < rows; first += kAdded)
      in_groups<kScaled>(
          0,
          vectors.size(), [=]<std::size_t count>(Count<count>, std::size_t v) __attribute__((always_inline)) {
            const Real* const* const some = vectors.data() + v;
            Real* const* const to = results.data() + v;
            if (first + kAdded <= rows)
              return add_rows<kAdded, count>(matrix + first * dim, first, some, dim, to);
            for (std::size_t i = first; i < rows; ++i) add_rows<1, count>(matrix + i * dim, i, some, dim, to);
          });
  });
}

template <class Element, class Real>
void multiply_max_plus(const Element* matrix, std::span<const Real* const> vectors, std::size_t dim,
                       std::span<Real* const> results, MaxPlusResult wanted) {
  for (std::size_t i = 0; i < dim; ++i)
    for (std::size_t v = 0; v < vectors.size(); ++v) {
      Real largest = -std::numeric_limits<Real>::infinity();
      std::size_t channel = 0;
      for (std::size_t j = 0; j < dim; ++j) {
        const Real sum = static_cast<Real>(matrix[i * dim + j]) + vectors[v][j];
        if (!(sum > largest)) continue;
        largest = sum;
        channel = j;
      }
      results[v][i] = wanted == MaxPlusResult::Value ? largest : static_cast<Real>(channel);
    }
}

template <class Real>
void add_at_columns(const Real* left, const Real* right, std::size_t count, std::size_t dim, std::size_t rows,
                    Real* sum) {
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < rows; ++i)
      sum[i * dim + static_cast<std::size_t>(right[k * dim + i])] += left[k * dim + i];
}

template <class Real>
void add_outer_products(const Real* left, const Real* right, std::size_t count, std::size_t left_dim,
                        std::size_t dim, std::size_t rows, Real* sum) {
  in_widest([=]() __attribute__((always_inline)) {
    std::size_t i = 0;
    for (; i + kSumRows <= rows; i += kSumRows)
      add_to_rows<kSumRows>(left + i, right, count, left_dim, dim, sum + i * dim);
    for (; i < rows; ++i) add_to_rows<1>(left + i, right, count, left_dim, dim, sum + i * dim);
  });
}

namespace {

template <Sums sums, class Real>
[[gnu::always_inline]] inline Real erring(Real value, double error) {
  const double sum = static_cast<double>(value) + error;
  return static_cast<Real>(sums == Sums::InDouble ? sum : static_cast<double>(static_cast<float>(sum)));
}

template <Sums sums, class Real>
void add_errors_in(Real* values, const double* bounds, std::size_t count, double amplitude,
                   std::uint64_t first) {
  in_widest([=]() __attribute__((always_inline)) {
    Real* const __restrict__ to = values;
    for (std::size_t i = 0; i < count; ++i)
      to[i] = erring<sums>(to[i], amplitude * bounds[i] * drawn(first + i));
  });
}

template <Sums sums, class Real>
void add_errors_of_sums_in(Real* values, double left, const double* right, std::size_t count,
                           double amplitude, std::uint64_t first) {
  in_widest([=]() __attribute__((always_inline)) {
    Real* const __restrict__ to = values;
    for (std::size_t i = 0; i < count; ++i)
      to[i] = erring<sums>(to[i], amplitude * (left * right[i]) * drawn(first + i));
  });
}

}  // namespace

template <class Real>
void add_errors(Real* values, const double* bounds, std::size_t count, double amplitude, std::uint64_t first,
                Sums sums) {
  if (sums == Sums::InFp32) return add_errors_in<Sums::InFp32>(values, bounds, count, amplitude, first);
  add_errors_in<Sums::InDouble>(values, bounds, count, amplitude, first);
}

template <class Real>
void add_errors_of_sums(Real* values, double left, const double* right, std::size_t count, double amplitude,
                        std::uint64_t first, Sums sums) {
  if (sums == Sums::InFp32)
    return add_errors_of_sums_in<Sums::InFp32>(values, left, right, count, amplitude, first);
  add_errors_of_sums_in<Sums::InDouble>(values, left, right, count, amplitude, first);
}

template void multiply(const float*, std::span<const float* const>, std::size_t, std::size_t,
                       std::span<float* const>);
template void multiply(const float*, std::span<const double* const>, std::size_t, std::size_t,
                       std::span<double* const>);
template void multiply(const double*, std::span<const double* const>, std::size_t, std::size_t,
                       std::span<double* const>);
template void multiply_transposed(const float*, std::span<const float* const>, std::size_t, std::size_t,
                                  std::span<float* const>);
template void multiply_transposed(const float*, std::span<const double* const>, std::size_t, std::size_t,
                                  std::span<double* const>);
template void multiply_transposed(const double*, std::span<const double* const>, std::size_t, std::size_t,
                                  std::span<double* const>);
template void multiply_max_plus(const float*, std::span<const float* const>, std::size_t,
                                std::span<float* const>, MaxPlusResult);
template void multiply_max_plus(const float*, std::span<const double* const>, std::size_t,
                                std::span<double* const>, MaxPlusResult);
template void multiply_max_plus(const double*, std::span<const double* const>, std::size_t,
                                std::span<double* const>, MaxPlusResult);
template void add_at_columns(const float*, const float*, std::size_t, std::size_t, std::size_t, float*);
template void add_at_columns(const double*, const double*, std::size_t, std::size_t, std::size_t, double*);
template void add_outer_products(const float*, const float*, std::size_t, std::size_t, std::size_t,
                                 std::size_t, float*);
template void add_outer_products(const double*, const double*, std::size_t, std::size_t, std::size_t,
                                 std::size_t, double*);
template void add_errors(float*, const double*, std::size_t, double, std::uint64_t, Sums);
template void add_errors(double*, const double*, std::size_t, double, std::uint64_t, Sums);
template void add_errors_of_sums(float*, double, const double*, std::size_t, double, std::uint64_t, Sums);
template void add_errors_of_sums(double*, double, const double*, std::size_t, double, std::uint64_t, Sums);

}  // namespace rondo::step::detail
