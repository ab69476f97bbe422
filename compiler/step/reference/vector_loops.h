// The loops in which the reference spends its time. On x86-64 they are compiled for several vector widths, of
// which the widest that the CPU has runs. All give the same bits: a sum adds its terms in one order, and
// nothing is fused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rondo::step::detail {

// Running sums of a product of two rows, so that its rounding error grows as D / 8.
inline constexpr std::size_t kLanes = 8;

// For float and double; matrices are [rows, dim], or [dim, dim]. Those of products may be float where the
// rest is double: the bits are those of the same numbers in double. A product takes as long as its matrix
// takes to read, so several vectors are multiplied by one at a time, each with the bits that it has alone.

// results[v] = matrix vectors[v]
template <class Element, class Real>
void multiply(const Element* matrix, std::span<const Real* const> vectors, std::size_t rows, std::size_t dim,
              std::span<Real* const> results);
// results[v] = matrix^T vectors[v]
template <class Element, class Real>
void multiply_transposed(const Element* matrix, std::span<const Real* const> vectors, std::size_t rows,
                         std::size_t dim, std::span<Real* const> results);
// The same over the semiring of max and plus: results[v]_i = max_j (matrix_ij + vectors[v]_j), what is no
// number left out; or the first j that attains it, 0 where none does.
enum class MaxPlusResult { Value, Channel };
template <class Element, class Real>
void multiply_max_plus(const Element* matrix, std::span<const Real* const> vectors, std::size_t dim,
                       std::span<Real* const> results, MaxPlusResult wanted);
// sum += left^T right, one of `count` rows after the other; left is [count, left_dim], right [count, dim]. Of
// the sum some `rows`, dense, by as many columns of `left` from its first element on.
template <class Real>
void add_outer_products(const Real* left, const Real* right, std::size_t count, std::size_t left_dim,
                        std::size_t dim, std::size_t rows, Real* sum);
// The same where each row's right numbers are columns: sum_ij += left_i where right_i is j, `right` from its
// first element of these rows on.
template <class Real>
void add_at_columns(const Real* left, const Real* right, std::size_t count, std::size_t dim, std::size_t rows,
                    Real* sum);
// Adds to each value an error of at most amplitude * bound, the draw of counter first, first + 1 and so on,
// and rounds to fp32, or, in double, leaves the sum as it is.
enum class Sums { InFp32, InDouble };
template <class Real>
void add_errors(Real* values, const double* bounds, std::size_t count, double amplitude, std::uint64_t first,
                Sums sums = Sums::InFp32);
// The same with bounds left * right[i].
template <class Real>
void add_errors_of_sums(Real* values, double left, const double* right, std::size_t count, double amplitude,
                        std::uint64_t first, Sums sums = Sums::InFp32);

}  // namespace rondo::step::detail
