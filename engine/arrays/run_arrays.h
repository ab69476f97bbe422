// The arrays of a run: their shapes give B, T, H and D, and are checked against the cell.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/schedule/problem/problem.h"
#include "compiler/step/reference/executor.h"
#include "compiler/support/result.h"
#include "engine/arrays/npy.h"

namespace rondo::engine {

struct NamedArray {
  std::string name;    // of the cell's tensor
  std::string origin;  // the file, for messages
  NpyArray array;
};

struct RunArrays {
  std::vector<NamedArray> inputs;  // [B, T, H, lead..., D], lead as declared: x[4, D] is [B, T, H, 4, D]
  std::vector<NamedArray> params;  // [H, lead..., D] or [H, lead..., D, D]
  std::vector<NamedArray> states;  // initial: [B, H, lead..., D]; missing: zero
  // Of a cell with forms (step/forms.h), by its tensors' names: resets [B, T], lengths [B].
  std::vector<NamedArray> resets = {}, lengths = {};
};

// The layout of a tensor as given to a run, or as its result: "B", "T", "H", "4", "D".
std::vector<std::string> axes_of(const step::Tensor& tensor);
std::vector<std::int64_t> shape_of(const step::Tensor& tensor, const step::Sizes& sizes);

// Which tensors the arrays must have: all that a run reads, or any of them, the others being random.
enum class Needed { All, Any };

// Errors (Input) name tensor, file and axis: unknown, missing, given twice, of the wrong rank, an extent that
// contradicts the cell or another array, an extent of 0, not enough arrays to know every size (then
// `fallback` helps). The seed of a cell's draws may be missing (set_seed).
Result<step::Sizes> deduce_sizes(const step::Cell& cell, const RunArrays& arrays,
                                 const std::optional<step::Sizes>& fallback, Needed needed = Needed::All);

// The storage type that the inputs have by themselves. Errors (Input): they differ, or it cannot be told.
Result<kernel::Storage> deduce_storage(const RunArrays& arrays);

// Whether inputs are finite in `storage`, parameters and states in fp32, or all in fp64; past the end of a
// row an input may be anything. One pass over all arrays. Errors (Input): an element type that does not fit,
// and the place of the first number that is not finite.
Status check_arrays(const RunArrays& arrays, kernel::Storage storage);

// `into.size()` bytes of elements from `first` on, rounded to `storage`, of an array that was checked.
void encode_elements(const NpyArray& array, kernel::Storage storage, std::int64_t first,
                     std::span<std::byte> into);

// Resets as 0 and 1, and lengths, by the names of their tensors. Error Input: not of integers.
Result<step::TensorMap<double>> flags_of(const RunArrays& arrays);

// The values, inputs rounded to `storage`, parameters and states to fp32, or nothing in
// fp64. Errors: those of check_arrays() and
// flags_of().
Result<step::ForwardArguments<double>> to_arguments(const RunArrays& arrays, kernel::Storage storage);

// Gives every head `seed`, 0 if there is none, unless there is an array for the seed of the cell's draws.
// Errors (Input): a seed that the array gives too, that fp32 cannot tell from its neighbours, or of a cell
// that draws nothing.
Status set_seed(const step::Cell& cell, std::int64_t heads, std::optional<std::int64_t> seed,
                RunArrays& arrays);

}  // namespace rondo::engine
