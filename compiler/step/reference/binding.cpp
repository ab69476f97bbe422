#include "compiler/step/reference/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/step/extents.h"
#include "compiler/step/forms.h"
#include "compiler/step/ranges.h"

namespace rondo::step {

namespace {

std::string sizes_text(const Sizes& sizes) {
  return fmt::format("B={}, T={}, H={}, D={}", sizes.batch, sizes.time, sizes.heads, sizes.dim);
}

std::string layout_text(const Tensor& tensor) {
  const char* outer = tensor.kind == TensorKind::Param   ? "H"
                      : tensor.kind == TensorKind::State ? "B, H"
                                                         : "B, T, H";
  const auto text = [](const InnerExtent& extent) {
    return extent ? fmt::format(", {}", extent.size) : std::string(", D");
  };
  return fmt::format("[{}, {}{}{}]", outer, tensor.rows,
                     tensor.tail == Tail::Matrix ? text(tensor.outer) : "",
                     tensor.tail == Tail::Scalar ? "" : text(tensor.inner));
}

Error input_error(std::string message, std::string hint = "") {
  return {ErrorKind::Input, std::move(message), std::move(hint)};
}

// In a tensor [B, T, ...] in row-major order.
void fill_past_ends(const std::vector<double>& lengths, std::int64_t time, double value,
                    std::vector<double>& tensor) {
  const std::size_t row = tensor.size() / lengths.size(), step = row / static_cast<std::size_t>(time);
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const auto valid =
        static_cast<std::size_t>(std::clamp(lengths[b], 0.0, static_cast<double>(time))) * step;
    const auto begin = tensor.begin() + static_cast<std::ptrdiff_t>(b * row);
    std::fill(begin + static_cast<std::ptrdiff_t>(valid), begin + static_cast<std::ptrdiff_t>(row), value);
  }
}

}  // namespace

void fill_past_ends(const Cell& cell, const Sizes& sizes, double value, ForwardArguments<double>& arguments,
                    LossGradients<double>& loss) {
  const std::optional<TensorId> length = cell.first_of_kind(TensorKind::Length);
  if (!length) return;
  const std::vector<double>& lengths = arguments.flags.at(cell.tensor(*length).name);
  for (TensorMap<double>* map : {&arguments.inputs, &loss.outputs})
    for (auto& [name, values] : *map) fill_past_ends(lengths, sizes.time, value, values);
}

namespace detail {

Status check_run(const Cell& cell, const Sizes& sizes, const std::map<std::string, double>& overrides) {
  const std::vector<std::string> defects = verify(cell);
  if (!defects.empty())
    return Error{ErrorKind::Internal, fmt::format("cell {} is malformed: {}", cell.name, defects.front())};
  if (std::min({sizes.batch, sizes.time, sizes.heads, sizes.dim}) < 1)
    return input_error(fmt::format("sizes {}: each must be at least 1", sizes_text(sizes)));
  for (const auto& [name, value] : overrides) {
    const bool known = std::ranges::any_of(
        cell.constants,
        [&, &wanted = name](const NamedConstant& constant) { return constant.name == wanted; });
    if (!known) return input_error(fmt::format("cell {} has no constant {}", cell.name, name));
  }
  if (const Status status = check_extents(cell, overrides); !status) return status;
  return check_forms(cell, sizes);
}

template <class Real>
Result<std::vector<const Real*>> bind(const Cell& cell, const Sizes& sizes, TensorKind kind,
                                      const TensorMap<Real>& tensors, const char* what, Absent absent) {
  std::vector<const Real*> data(cell.tensors.size(), nullptr);
  std::size_t used = 0;
  for (const TensorId id : cell.of_kind(kind)) {
    const Tensor& tensor = cell.tensor(id);
    const auto found = tensors.find(tensor.name);
    if (found == tensors.end()) {
      if (absent == Absent::Zero) continue;
      return input_error(
          fmt::format("{} {} of cell {} is missing", what, tensor.name, cell.name),
          fmt::format("pass {} elements, {}", element_count(tensor, sizes), layout_text(tensor)));
    }
    ++used;
    const std::int64_t wanted = element_count(tensor, sizes);
    if (static_cast<std::int64_t>(found->second.size()) != wanted)
      return input_error(fmt::format("{} {} has {} elements, {} are needed: {} with {}", what, tensor.name,
                                     found->second.size(), wanted, layout_text(tensor), sizes_text(sizes)));
    data[static_cast<std::size_t>(id)] = found->second.data();
  }
  if (used == tensors.size()) return data;
  for (const auto& [name, values] : tensors) {
    const bool known = std::ranges::any_of(cell.tensors, [&, &wanted = name](const Tensor& tensor) {
      return tensor.kind == kind && tensor.name == wanted;
    });
    if (!known) return input_error(fmt::format("cell {} has no {} {}", cell.name, what, name));
  }
  return data;
}

template <class Real>
TensorMap<Real> fill_first(const Cell& cell, const Sizes& sizes,
                           const std::map<std::string, double>& overrides,
                           std::vector<const Real*>& initial) {
  TensorMap<Real> filled;
  for (const TensorId id : cell.of_kind(TensorKind::State)) {
    const Tensor& state = cell.tensor(id);
    const Real*& given = initial[static_cast<std::size_t>(id)];
    const double first = first_of(cell, state, overrides);
    if (given != nullptr || first == 0) continue;
    // As kernels hold it.
    std::vector<Real>& values = filled[state.name];
    values.assign(static_cast<std::size_t>(element_count(state, sizes)),
                  static_cast<Real>(static_cast<float>(first)));
    given = values.data();
  }
  return filled;
}

template <class Real>
TensorMap<Real> allocate(const Cell& cell, const Sizes& sizes, TensorKind kind, bool matrices) {
  TensorMap<Real> tensors;
  for (const TensorId id : cell.of_kind(kind)) {
    const Tensor& tensor = cell.tensor(id);
    std::vector<Real>& values = tensors[tensor.name];
    if (matrices || tensor.tail != Tail::Matrix)
      values.assign(static_cast<std::size_t>(element_count(tensor, sizes)), Real{0});
  }
  return tensors;
}

std::vector<double> constant_values(const Cell& cell, const std::map<std::string, double>& overrides) {
  std::vector<double> values;
  for (const NamedConstant& constant : cell.constants) {
    const auto found = overrides.find(constant.name);
    values.push_back(found == overrides.end() ? constant.value : found->second);
  }
  return values;
}

template Result<std::vector<const float*>> bind(const Cell&, const Sizes&, TensorKind,
                                                const TensorMap<float>&, const char*, Absent);
template Result<std::vector<const double*>> bind(const Cell&, const Sizes&, TensorKind,
                                                 const TensorMap<double>&, const char*, Absent);
template TensorMap<float> fill_first(const Cell&, const Sizes&, const std::map<std::string, double>&,
                                     std::vector<const float*>&);
template TensorMap<double> fill_first(const Cell&, const Sizes&, const std::map<std::string, double>&,
                                      std::vector<const double*>&);
template TensorMap<float> allocate(const Cell&, const Sizes&, TensorKind, bool);
template TensorMap<double> allocate(const Cell&, const Sizes&, TensorKind, bool);

}  // namespace detail

}  // namespace rondo::step
