// What the reference executor checks and looks up before it runs: sizes, tensors by name, constants.
// Internal.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/step/reference/executor.h"

namespace rondo::step::detail {

// An error if the cell is malformed, a size is below 1, or an override names no constant of the cell.
Status check_run(const Cell& cell, const Sizes& sizes, const std::map<std::string, double>& overrides);

// What stands for a tensor that the caller left out.
enum class Absent { Error, Zero };

// Pointers to the data of every tensor of `kind`, by TensorId; nullptr for those of another kind or absent
// (zero). `what` names the role in messages ("input", "initial state", "loss gradient of output", ...).
template <class Real>
Result<std::vector<const Real*>> bind(const Cell& cell, const Sizes& sizes, TensorKind kind,
                                      const TensorMap<Real>& tensors, const char* what, Absent absent);

// The states that the caller left out and that do not begin with zero, as their declarations say; `initial`
// (bind()) then points to them.
template <class Real>
TensorMap<Real> fill_first(const Cell& cell, const Sizes& sizes,
                           const std::map<std::string, double>& overrides, std::vector<const Real*>& initial);

// A zeroed tensor of the right size for every tensor of `kind`; without matrices, these are empty.
template <class Real>
TensorMap<Real> allocate(const Cell& cell, const Sizes& sizes, TensorKind kind, bool matrices = true);

// Pointers to the data of the tensors of `kind` in a map that has them all, by TensorId.
template <class Real>
std::vector<Real*> pointers(const Cell& cell, TensorKind kind, TensorMap<Real>& tensors) {
  std::vector<Real*> result(cell.tensors.size(), nullptr);
  for (const TensorId id : cell.of_kind(kind)) {
    const auto index = static_cast<std::size_t>(id);
    result[index] = tensors.at(cell.tensors[index].name).data();
  }
  return result;
}

// Gives runs that differ in their perturbation alone matrices: those that the caller brings, or such as this
// makes in `own`.
template <class Real>
void share_matrices(std::vector<RunOptions<Real>>& options, const Cell& cell, const Sizes& sizes,
                    const TensorMap<Real>& params, std::optional<Matrices<Real>>& own) {
  if (options.front().matrices == nullptr)
    own.emplace(cell, sizes, params, options.front().perturbation != nullptr);
  for (RunOptions<Real>& one : options)
    if (own) one.matrices = &*own;
}

// The options of runs with these perturbations, which outlive them.
template <class Real>
std::vector<RunOptions<Real>> options_of(const RunOptions<Real>& options,
                                         std::span<const Perturbation> perturbations) {
  std::vector<RunOptions<Real>> all(perturbations.size(), options);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].perturbation = &perturbations[i];
  return all;
}

// Values of the cell's constants with the overrides, by index.
std::vector<double> constant_values(const Cell& cell, const std::map<std::string, double>& overrides);

}  // namespace rondo::step::detail
