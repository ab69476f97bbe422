#include "tools/rondo/arrays.h"

#include <fmt/format.h>

#include "engine/arrays/array_ranges.h"
#include "engine/request/problem_text.h"
#include "tools/rondo/saving.h"

namespace rondo::tools {

using engine::RunArrays;

namespace {

// Whether the arrays say other than the extents that --shape names.
bool contradicts(const std::string& shape, const step::Sizes& given, const step::Sizes& found) {
  const auto differs = [&](const char* axis, std::int64_t a, std::int64_t b) {
    return a != b && shape.find(axis) != std::string::npos;
  };
  return differs("B=", given.batch, found.batch) || differs("T=", given.time, found.time) ||
         differs("H=", given.heads, found.heads) || differs("D=", given.dim, found.dim);
}

}  // namespace

Status read_arrays(const std::vector<std::string>& texts, const char* option,
                   std::vector<engine::NamedArray>& into) {
  for (const std::string& text : texts) {
    const auto parts = engine::parse_assignment(text, option);
    if (!parts) return parts.error();
    Result<engine::NpyArray> array = engine::read_npy(parts->second);
    if (!array) return array.error();
    into.push_back({parts->first, parts->second, std::move(array).value()});
  }
  return success();
}

Result<RunArrays> arrays_of(const Options& options) {
  RunArrays arrays;
  if (Status status = read_arrays(options.inputs, "--input", arrays.inputs); !status) return status.error();
  if (Status status = read_arrays(options.param_files, "--param-file", arrays.params); !status)
    return status.error();
  if (Status status = read_arrays(options.states, "--state", arrays.states); !status) return status.error();
  std::vector<engine::NamedArray> given;
  if (Status status = read_arrays(options.reset_states, "--reset-state", given); !status)
    return status.error();
  for (engine::NamedArray& array : given) {
    array.name = step::reset_state_name(array.name);
    arrays.states.push_back(std::move(array));
  }
  const auto read_flags = [&](const std::string& path, const char* name,
                              std::vector<engine::NamedArray>& into) -> Status {
    return path.empty() ? success()
                        : read_arrays({fmt::format("{}={}", name, path)}, "--resets or --lengths", into);
  };
  if (Status status = read_flags(options.resets, step::kResetsName, arrays.resets); !status)
    return status.error();
  if (Status status = read_flags(options.lengths, step::kLengthsName, arrays.lengths); !status)
    return status.error();
  return arrays;
}

Result<schedule::Problem> problem_of_arrays(const Options& options, const step::Cell& cell,
                                            const RunArrays& arrays, engine::Needed needed) {
  const bool all = needed == engine::Needed::All;
  Options filled = options;
  if (!options.dtype_given && (all || !arrays.inputs.empty())) {
    const Result<kernel::Storage> storage = engine::deduce_storage(arrays);
    if (!storage) return storage.error();
    filled.dtype = kernel::storage_name(*storage);
  }
  Result<schedule::Problem> problem = problem_of(filled, cell, schedule::Pass::Forward);
  if (!problem) return problem;
  const Result<step::Sizes> sizes = engine::deduce_sizes(
      cell, arrays, options.shape_given || !all ? std::optional(problem->sizes) : std::nullopt, needed);
  if (!sizes) return sizes.error();
  if (options.shape_given && contradicts(options.shape, problem->sizes, *sizes))
    return Error{ErrorKind::Input,
                 fmt::format("--shape says {}, the arrays say {}", engine::shape_text(problem->sizes),
                             engine::shape_text(*sizes)),
                 "leave out --shape"};
  problem->sizes = *sizes;
  return problem;
}

Result<OwnData> own_data(const Options& options, const step::Cell& cell) {
  OwnData own{options, nullptr};
  if (options.inputs.empty() && options.param_files.empty() && options.states.empty()) return own;
  const Result<RunArrays> arrays = arrays_of(options);
  if (!arrays) return arrays.error();
  const Result<schedule::Problem> problem =
      problem_of_arrays(in_one_piece(options), cell, *arrays, engine::Needed::Any);
  if (!problem) return problem.error();
  if (problem->sizes.batch == 0 || problem->sizes.time == 0)
    return Error{ErrorKind::Input,
                 fmt::format("the arrays are of {}: there is nothing to compute with them",
                             engine::shape_text(problem->sizes)),
                 "give arrays of at least one row and one step"};
  auto arguments = engine::to_arguments(*arrays, problem->storage);
  if (!arguments) return arguments.error();
  if (Status status = engine::check_ranges(cell, *arrays, problem->storage, problem->constants); !status)
    return status.error();
  own.options.shape = engine::shape_text(problem->sizes);
  own.options.dtype = kernel::storage_name(problem->storage);
  own.given = std::make_shared<const engine::GivenData>(
      engine::GivenData{problem->sizes, std::move(arguments).value()});
  return own;
}

}  // namespace rondo::tools
