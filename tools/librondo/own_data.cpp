// Arrays of the program's own in the place of random numbers: rondo_plan_options.data.
#include <fmt/format.h>

#include <optional>

#include "compiler/step/extents.h"
#include "compiler/support/index.h"
#include "engine/arrays/array_ranges.h"
#include "engine/arrays/run_arrays.h"
#include "engine/request/problem_text.h"
#include "runtime/capi/launch/status.h"
#include "tools/librondo/choose.h"

namespace rondo::capi {

namespace {

constexpr std::int32_t kMostAxes = 16;
constexpr const char* kOrigin = "rondo_plan_options.data";

// The numbers stay the caller's.
Result<engine::NamedArray> read_array(const rondo_array& given) {
  for (const auto& [pointer, what] : {std::pair<const void*, const char*>(given.name, "name"),
                                      {given.values, "values"},
                                      {given.shape, "shape"}})
    if (Status status = not_null(pointer, fmt::format("rondo_array.{}", what).c_str()); !status)
      return status.error();
  if (given.reserved != 0)
    return Error{ErrorKind::Input, "rondo_array.reserved is not 0", "set what is not used to 0"};
  if (given.rank < 0 || given.rank > kMostAxes)
    return Error{ErrorKind::Input, fmt::format("array '{}' has {} axes", given.name, given.rank),
                 fmt::format("give the shape that a run takes, of at most {} axes", kMostAxes)};
  engine::NpyArray array;
  array.descr = "<f4";
  std::int64_t elements = 1;
  for (const std::int64_t extent : std::span(given.shape, at(given.rank))) {
    std::int64_t bytes = 0;
    if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements) ||
        __builtin_mul_overflow(elements, std::int64_t{sizeof(float)}, &bytes))
      return Error{ErrorKind::Input, fmt::format("array '{}' has an extent of {}", given.name, extent),
                   "give extents of 0 and more, whose elements fit into memory"};
    array.shape.push_back(extent);
  }
  const auto bytes = at(elements) * sizeof(float);
  array.data = engine::ArrayBytes(nullptr, {reinterpret_cast<const char*>(given.values), bytes});
  return engine::NamedArray{given.name, kOrigin, std::move(array)};
}

std::vector<engine::NamedArray>* place_of(const step::Cell& cell, const std::string& name,
                                          engine::RunArrays& arrays) {
  const std::optional<step::TensorId> tensor = cell.find(name);
  if (!tensor) return nullptr;
  switch (cell.tensor(*tensor).kind) {
    case step::TensorKind::Input: return &arrays.inputs;
    case step::TensorKind::Param: return &arrays.params;
    case step::TensorKind::State: return &arrays.states;
    default: return nullptr;
  }
}

}  // namespace

Result<engine::Given> own_data(const step::Cell& written, const schedule::Problem& problem,
                               const std::vector<rondo_array>& given) {
  if (given.empty()) return engine::Given();
  const step::Cell cell = step::with_extents(written, problem.constants);
  engine::RunArrays arrays;
  for (const rondo_array& each : given) {
    auto array = read_array(each);
    if (!array) return array.error();
    auto* place = place_of(cell, array->name, arrays);
    if (place == nullptr)
      return Error{
          ErrorKind::Input,
          fmt::format("{}: cell {} has no input, parameter or state '{}'", kOrigin, cell.name, array->name),
          "name one that its text declares: rondo_cell_get_tensor() lists them"};
    place->push_back(std::move(array).value());
  }
  const Result<step::Sizes> sizes = engine::deduce_sizes(cell, arrays, problem.sizes, engine::Needed::Any);
  if (!sizes) return sizes.error();
  if (sizes->heads != problem.sizes.heads || sizes->dim != problem.sizes.dim)
    return Error{ErrorKind::Input,
                 fmt::format("{} is of H={},D={}, the problem of H={},D={}", kOrigin, sizes->heads,
                             sizes->dim, problem.sizes.heads, problem.sizes.dim),
                 "B and T alone may differ"};
  if (Status status = engine::check_ranges(cell, arrays, problem.storage, problem.constants); !status)
    return status.error();
  auto arguments = engine::to_arguments(arrays, problem.storage);
  if (!arguments) return arguments.error();
  return std::make_shared<const engine::GivenData>(engine::GivenData{*sizes, std::move(arguments).value()});
}

}  // namespace rondo::capi
