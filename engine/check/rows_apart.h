// Where a kernel and its plain kernel are furthest apart. Internal to the check at the full shape.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/check/at_shape.h"

namespace rondo::engine {

// Elements of a tensor up to which all of it takes part in the perturbed runs.
inline constexpr std::int64_t kMostWhole = std::int64_t{1} << 21;

// Of every row of a result: the norm of the difference, and the norm of the plain kernel's.
struct RowsApart {
  std::vector<float> difference, size;
  std::int64_t kernel_not_finite = 0, plain_not_finite = 0;  // elements
};
Result<RowsApart> rows_apart(ShapeRuns& runs, const ShapeTensor& tensor);

// The rows that are compared by the spread of perturbed runs, ascending: all of them, or of many those
// furthest apart, absolutely and relative to their size, some at random, the first, and the last steps of
// batch rows.
std::vector<std::int64_t> rows_to_compare(const ShapeTensor& tensor, const RowsApart& apart,
                                          const step::Sizes& sizes, std::uint64_t seed);

}  // namespace rondo::engine
