#include "engine/arrays/run_arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <tuple>

#include "compiler/scalar/storage.h"
#include "compiler/scalar/storage_blocks.h"
#include "compiler/support/enum_text.h"

namespace rondo::engine {

using kernel::Storage;
using step::Tail;
using step::Tensor;
using step::TensorKind;

namespace {

constexpr std::int64_t kLargestSeed = 1 << 24;  // up to it, every integer is a number of fp32

Error bad(std::string message, std::string hint = "") {
  return {ErrorKind::Input, std::move(message), std::move(hint)};
}

constexpr EnumText<TensorKind> kKindNames[] = {{TensorKind::Input, "input"},
                                               {TensorKind::Param, "parameter"},
                                               {TensorKind::State, "state"},
                                               {TensorKind::Output, "output"},
                                               {TensorKind::Reset, "tensor of resets"},
                                               {TensorKind::Length, "tensor of lengths"}};
static_assert(is_total(kKindNames));

const char* kind_name(TensorKind kind) { return to_text(kKindNames, kind); }

constexpr EnumText<TensorKind> kKindOptions[] = {
    {TensorKind::Input, "--input"}, {TensorKind::Param, "--param-file"}, {TensorKind::State, "--state"},
    {TensorKind::Output, "--out"},  {TensorKind::Reset, "--resets"},     {TensorKind::Length, "--lengths"}};
static_assert(is_total(kKindOptions));

const char* option_of(TensorKind kind) { return to_text(kKindOptions, kind); }

std::string names_of(const step::Cell& cell, TensorKind kind) {
  std::vector<std::string> names;
  for (const step::TensorId id : cell.of_kind(kind)) names.push_back(cell.tensor(id).name);
  return names.empty() ? fmt::format("it has no {}", kind_name(kind))
                       : fmt::format("it has: {}", fmt::join(names, ", "));
}

// Collects what every array says about B, T, H and D.
class SizeFinder {
 public:
  explicit SizeFinder(const step::Cell& cell) : cell_(cell) {}

  Status add(const std::vector<NamedArray>& arrays, TensorKind kind, bool all_needed) {
    std::vector<std::string> seen;
    for (const NamedArray& entry : arrays) {
      const Tensor* tensor = find(entry.name, kind);
      if (tensor == nullptr)
        return bad(fmt::format("cell {} has no {} '{}'", cell_.name, kind_name(kind), entry.name),
                   names_of(cell_, kind));
      if (std::ranges::find(seen, entry.name) != seen.end())
        return bad(fmt::format("{} '{}' is given twice", kind_name(kind), entry.name));
      seen.push_back(entry.name);
      if (Status status = match(*tensor, entry); !status) return status;
    }
    for (const step::TensorId id : cell_.of_kind(kind)) {
      const Tensor& tensor = cell_.tensor(id);
      if (all_needed && cell_.seed() != id && std::ranges::find(seen, tensor.name) == seen.end())
        return bad(fmt::format("{} '{}' [{}] of cell {} is missing", kind_name(kind), tensor.name,
                               fmt::join(axes_of(tensor), ", "), cell_.name),
                   fmt::format("give it with {} {}=FILE.npy", option_of(kind), tensor.name));
    }
    return success();
  }

  Result<step::Sizes> sizes(const std::optional<step::Sizes>& fallback) const {
    step::Sizes sizes = fallback.value_or(step::Sizes{});
    const std::pair<const char*, std::int64_t*> axes[] = {
        {"B", &sizes.batch}, {"T", &sizes.time}, {"H", &sizes.heads}, {"D", &sizes.dim}};
    for (const auto& [axis, extent] : axes) {
      const auto found = known_.find(axis);
      if (found == known_.end() && !fallback)
        return bad(fmt::format("no array tells the extent {}", axis), "give it with --shape");
      if (found != known_.end()) *extent = found->second.first;
    }
    return sizes;
  }

 private:
  const Tensor* find(const std::string& name, TensorKind kind) const {
    const std::optional<step::TensorId> id = cell_.find(name);
    if (!id) return nullptr;
    const Tensor& tensor = cell_.tensor(*id);
    return tensor.kind == kind ? &tensor : nullptr;
  }

  Status match(const Tensor& tensor, const NamedArray& entry) {
    const std::vector<std::string> axes = axes_of(tensor);
    const std::vector<std::int64_t>& shape = entry.array.shape;
    const std::string what =
        fmt::format("{} '{}' from '{}' has shape {}; the cell wants [{}]", kind_name(tensor.kind),
                    tensor.name, entry.origin, shape_tuple(shape), fmt::join(axes, ", "));
    if (shape.size() != axes.size())
      return bad(fmt::format("{}: {} axes instead of {}", what, shape.size(), axes.size()));
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const bool may_be_empty = axes[i] == "B" || axes[i] == "T";  // no rows, or no steps
      if (shape[i] < (may_be_empty ? 0 : 1)) return bad(fmt::format("{}: axis {} is empty", what, i));
      const bool fixed = axes[i].find_first_not_of("0123456789") == std::string::npos;
      if (fixed && std::to_string(shape[i]) != axes[i])
        return bad(fmt::format("{}: axis {} is {} instead of {}", what, i, shape[i], axes[i]));
      if (fixed) continue;
      const auto [known, added] = known_.try_emplace(axes[i], shape[i], tensor.name);
      if (!added && known->second.first != shape[i])
        return bad(fmt::format("{}: {} is {}, but '{}' has {}={}", what, axes[i], shape[i],
                               known->second.second, axes[i], known->second.first));
    }
    return success();
  }

  const step::Cell& cell_;
  std::map<std::string, std::pair<std::int64_t, std::string>>
      known_;  // axis -> extent, tensor that said so first
};

// Says of an element of an array whether it lies past the end of its row, where no result reads it.
class PastEnds {
 public:
  // `lengths`: of the rows, none where every row has all steps.
  PastEnds(const NpyArray& array, const std::vector<double>* lengths)
      : lengths_(lengths),
        time_(array.shape.size() < 2 ? 1 : array.shape[1]),
        of_step_(array.elements() < 2 ? 1 : array.elements() / (array.shape[0] * time_)) {}

  bool has(std::size_t element) const {
    if (lengths_ == nullptr) return false;
    const std::int64_t step = static_cast<std::int64_t>(element) / of_step_;
    const auto row = static_cast<std::size_t>(step / time_);
    return row < lengths_->size() && static_cast<double>(step % time_) >= (*lengths_)[row];
  }

 private:
  const std::vector<double>* lengths_;
  std::int64_t time_, of_step_;
};

constexpr std::int64_t kBlock = 1024;  // elements that are looked at together: they stay in the L1

// Calls `look(first, block)` for all elements as fp32 or fp64, in order, until it says no.
template <class Real, class Look>
bool each_block(const NpyArray& array, Look&& look) {
  std::array<Real, kBlock> block;
  for (std::int64_t first = 0, all = array.elements(); first < all; first += kBlock) {
    const std::span<Real> part(block.data(), static_cast<std::size_t>(std::min(kBlock, all - first)));
    npy_numbers(array, first, part);
    if (!look(first, part)) return false;
  }
  return true;
}

double number_at(const NpyArray& array, std::int64_t element) {
  double value = 0;
  npy_numbers(array, element, std::span(&value, 1));
  return value;
}

// Where an element stands: "[0, 4, 0, 1, 2]".
std::string place_of(const NpyArray& array, std::int64_t element) {
  std::vector<std::int64_t> place(array.shape.size());
  for (std::size_t axis = place.size(); axis-- > 0; element /= array.shape[axis])
    place[axis] = element % array.shape[axis];
  return fmt::format("[{}]", fmt::join(place, ", "));
}

// `lengths`: of the rows of the arrays, or null; past the end of a row an element may be anything.
template <class Real>
Status check_finite_as(const std::vector<NamedArray>& arrays, Storage words, Storage storage,
                       const std::vector<double>* lengths) {
  for (const NamedArray& entry : arrays) {
    if (Status status = check_floats(entry.array, words, entry.origin); !status) return status;
    const PastEnds past_ends(entry.array, lengths);
    std::int64_t bad_one = 0;
    const bool sound = each_block<Real>(entry.array, [&](std::int64_t first, std::span<const Real> block) {
      if (scalar::finite_block(storage, block)) return true;
      for (std::size_t i = 0; i < block.size(); ++i) {
        bad_one = first + static_cast<std::int64_t>(i);
        if (!scalar::finite_block(storage, block.subspan(i, 1)) &&
            !past_ends.has(static_cast<std::size_t>(bad_one)))
          return false;
      }
      return true;
    });
    if (sound) continue;
    return bad(fmt::format("'{}' for '{}': element {} is {}, not finite in {}; it stands at {} of {}",
                           entry.origin, entry.name, bad_one, number_at(entry.array, bad_one),
                           kernel::storage_name(storage), place_of(entry.array, bad_one),
                           shape_tuple(entry.array.shape)));
  }
  return success();
}

Status check_finite(const std::vector<NamedArray>& arrays, Storage words, Storage storage,
                    const std::vector<double>* lengths = nullptr) {
  return storage == Storage::F64 ? check_finite_as<double>(arrays, words, storage, lengths)
                                 : check_finite_as<float>(arrays, words, storage, lengths);
}

// Of arrays that were checked.
void convert(const std::vector<NamedArray>& arrays, Storage storage, step::TensorMap<double>& into) {
  for (const NamedArray& entry : arrays) {
    std::vector<double>& values = into[entry.name];
    values.resize(static_cast<std::size_t>(entry.array.elements()));
    each_block<double>(entry.array, [&](std::int64_t first, std::span<const double> block) {
      std::ranges::transform(block, values.begin() + first,
                             [&](double value) { return scalar::nearest(storage, value); });
      return true;
    });
  }
}

// `truth`: all but 0 are 1, as a device's bytes hold them.
Status convert_flags(const std::vector<NamedArray>& arrays, bool truth, step::TensorMap<double>& into) {
  for (const NamedArray& entry : arrays) {
    Result<std::vector<double>> values = npy_integers(entry.array, entry.origin);
    if (!values) return values.error();
    if (truth)
      for (double& value : *values) value = value != 0 ? 1 : 0;
    into[entry.name] = std::move(values).value();
  }
  return success();
}

}  // namespace

std::vector<std::string> axes_of(const Tensor& tensor) {
  std::vector<std::string> axes;
  if (tensor.kind == TensorKind::Reset) return {"B", "T"};
  if (tensor.kind == TensorKind::Length) return {"B"};
  if (tensor.kind == TensorKind::Param)
    axes = {"H"};
  else if (tensor.kind == TensorKind::State)
    axes = {"B", "H"};
  else
    axes = {"B", "T", "H"};
  for (const int extent : tensor.lead) axes.push_back(std::to_string(extent));
  const auto channels = [](const step::InnerExtent& extent) {
    return extent ? std::to_string(extent.size) : std::string("D");
  };
  if (tensor.tail == Tail::Matrix) axes.push_back(channels(tensor.outer));
  if (tensor.tail != Tail::Scalar) axes.push_back(channels(tensor.inner));
  return axes;
}

std::vector<std::int64_t> shape_of(const Tensor& tensor, const step::Sizes& sizes) {
  const std::map<std::string, std::int64_t> extents = {
      {"B", sizes.batch}, {"T", sizes.time}, {"H", sizes.heads}, {"D", sizes.dim}};
  std::vector<std::int64_t> shape;
  for (const std::string& axis : axes_of(tensor)) {
    const auto found = extents.find(axis);
    shape.push_back(found != extents.end() ? found->second : std::stoll(axis));
  }
  return shape;
}

Result<step::Sizes> deduce_sizes(const step::Cell& cell, const RunArrays& arrays,
                                 const std::optional<step::Sizes>& fallback, Needed needed) {
  const bool all = needed == Needed::All;
  SizeFinder finder(cell);
  for (const auto& [of, kind, must] : {std::tuple(&arrays.inputs, TensorKind::Input, all),
                                       std::tuple(&arrays.params, TensorKind::Param, all),
                                       std::tuple(&arrays.states, TensorKind::State, false),
                                       std::tuple(&arrays.resets, TensorKind::Reset, all),
                                       std::tuple(&arrays.lengths, TensorKind::Length, all)})
    if (Status status = finder.add(*of, kind, must); !status) return status.error();
  return finder.sizes(fallback);
}

Result<Storage> deduce_storage(const RunArrays& arrays) {
  std::optional<Storage> storage;
  for (const NamedArray& entry : arrays.inputs) {
    const std::optional<Storage> natural = natural_storage(entry.array.descr);
    if (holds_integers(entry.array))
      return bad(
          fmt::format("'{}' holds integers ('{}'), which are no input", entry.origin, entry.array.descr),
          "convert it: array.astype('float32')");
    if (!natural)
      return bad(fmt::format("'{}' holds elements of type '{}': the dtype cannot be told", entry.origin,
                             entry.array.descr),
                 "name it with --dtype");
    if (storage && *storage != *natural)
      return bad(fmt::format("'{}' is {}, another input {}", entry.origin, kernel::storage_name(*natural),
                             kernel::storage_name(*storage)),
                 "name the one to compute in with --dtype");
    storage = natural;
  }
  return storage.value_or(Storage::F32);
}

Status set_seed(const step::Cell& cell, std::int64_t heads, std::optional<std::int64_t> seed,
                RunArrays& arrays) {
  const std::optional<step::TensorId> id = cell.seed();
  if (!id && seed) return bad(fmt::format("cell {} draws no random numbers: it has no seed", cell.name));
  if (!id) return success();
  const std::string& name = cell.tensor(*id).name;
  const bool given =
      std::ranges::any_of(arrays.params, [&](const NamedArray& array) { return array.name == name; });
  if (seed && given)
    return bad(fmt::format("parameter '{}' is given as an array and by --seed", name), "leave out one");
  if (seed && (*seed < 0 || *seed > kLargestSeed))
    return bad(fmt::format("the seed {} is not within 0 and {}", *seed, kLargestSeed),
               fmt::format("other numbers, and one for each head, can be given by --param-file {}", name));
  if (given) return success();
  const std::vector<double> values(static_cast<std::size_t>(heads), static_cast<double>(seed.value_or(0)));
  arrays.params.push_back({name, "--seed", npy_from(values, {heads}, Storage::F32)});
  return success();
}

void encode_elements(const NpyArray& array, Storage storage, std::int64_t first, std::span<std::byte> into) {
  const auto size = static_cast<std::size_t>(kernel::storage_bytes(storage));
  const auto in_blocks = [&]<class Real>(std::array<Real, kBlock> block) {
    for (std::size_t done = 0; done < into.size() / size; done += kBlock) {
      const std::span<Real> part(block.data(), std::min<std::size_t>(kBlock, into.size() / size - done));
      npy_numbers(array, first + static_cast<std::int64_t>(done), part);
      scalar::encode_block(storage, part, into.data() + done * size);
    }
  };
  storage == Storage::F64 ? in_blocks(std::array<double, kBlock>()) : in_blocks(std::array<float, kBlock>());
}

Result<step::TensorMap<double>> flags_of(const RunArrays& arrays) {
  step::TensorMap<double> flags;
  if (Status status = convert_flags(arrays.resets, true, flags); !status) return status.error();
  if (Status status = convert_flags(arrays.lengths, false, flags); !status) return status.error();
  return flags;
}

Status check_arrays(const RunArrays& arrays, Storage storage) {
  const Result<step::TensorMap<double>> flags = flags_of(arrays);
  if (!flags) return flags.error();
  const std::vector<double>* const lengths =
      arrays.lengths.empty() ? nullptr : &flags->at(arrays.lengths.front().name);
  if (Status status = check_finite(arrays.inputs, storage, storage, lengths); !status) return status;
  if (Status status = check_finite(arrays.params, storage, scalar::computed_in(storage)); !status)
    return status;
  return check_finite(arrays.states, storage, scalar::computed_in(storage));
}

Result<step::ForwardArguments<double>> to_arguments(const RunArrays& arrays, Storage storage) {
  if (Status status = check_arrays(arrays, storage); !status) return status.error();
  step::ForwardArguments<double> arguments;
  arguments.flags = flags_of(arrays).value();
  convert(arrays.inputs, storage, arguments.inputs);
  convert(arrays.params, scalar::computed_in(storage), arguments.params);
  convert(arrays.states, scalar::computed_in(storage), arguments.initial_states);
  return arguments;
}

}  // namespace rondo::engine
