#include "engine/arrays/loss_arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "compiler/scalar/storage.h"

namespace rondo::engine {

using kernel::Storage;
using step::TensorKind;

namespace {

Error mistake(std::string message, std::string hint = "") {
  return {ErrorKind::Input, std::move(message), std::move(hint)};
}

// An output may have the name of a state.
const step::Tensor* find(const step::Cell& cell, TensorKind kind, const std::string& name) {
  for (const step::Tensor& tensor : cell.tensors)
    if (tensor.kind == kind && tensor.name == name) return &tensor;
  return nullptr;
}

std::string list_of(const step::Cell& cell, TensorKind kind) {
  std::vector<std::string> names;
  for (const step::TensorId id : cell.of_kind(kind)) names.push_back(cell.tensor(id).name);
  return fmt::format("it has: {}", fmt::join(names, ", "));
}

Status take(const step::Cell& cell, const step::Sizes& sizes, const std::vector<NamedArray>& arrays,
            TensorKind kind, Storage words, Storage storage, step::TensorMap<double>& into) {
  const char* what = kind == TensorKind::Output ? "output" : "state";
  for (const NamedArray& entry : arrays) {
    const step::Tensor* tensor = find(cell, kind, entry.name);
    if (tensor == nullptr)
      return mistake(fmt::format("cell {} has no {} '{}'", cell.name, what, entry.name), list_of(cell, kind));
    const std::vector<std::int64_t> wanted = shape_of(*tensor, sizes);
    if (entry.array.shape != wanted)
      return mistake(fmt::format("the weights of {} '{}' from '{}' have shape {}; the run wants {}", what,
                                 entry.name, entry.origin, shape_tuple(entry.array.shape),
                                 shape_tuple(wanted)));
    Result<std::vector<double>> values = npy_values(entry.array, words, entry.origin);
    if (!values) return values.error();
    for (double& value : *values) {
      const double given = value;
      value = scalar::nearest(storage, value);
      if (!std::isfinite(value))
        return mistake(fmt::format("the weights of {} '{}' from '{}' hold {}, not finite in {}", what,
                                   entry.name, entry.origin, given, kernel::storage_name(storage)));
    }
    if (!into.emplace(entry.name, std::move(values).value()).second)
      return mistake(fmt::format("the weights of {} '{}' are given twice", what, entry.name));
  }
  return success();
}

}  // namespace

Result<step::LossGradients<double>> to_loss(const step::Cell& cell, const step::Sizes& sizes,
                                            const LossArrays& arrays, Storage storage) {
  step::LossGradients<double> loss;
  if (arrays.outputs.empty() && arrays.last_states.empty())
    for (const step::TensorId id : cell.of_kind(TensorKind::Output)) {
      const step::Tensor& output = cell.tensor(id);
      loss.outputs[output.name].assign(static_cast<std::size_t>(step::element_count(output, sizes)), 1);
    }
  if (Status status = take(cell, sizes, arrays.outputs, TensorKind::Output, storage, storage, loss.outputs);
      !status)
    return status.error();
  if (Status status = take(cell, sizes, arrays.last_states, TensorKind::State, storage,
                           scalar::computed_in(storage), loss.last_states);
      !status)
    return status.error();
  return loss;
}

}  // namespace rondo::engine
