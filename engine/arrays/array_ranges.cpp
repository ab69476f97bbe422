#include "engine/arrays/array_ranges.h"

#include <fmt/format.h>

#include "compiler/scalar/storage.h"

namespace rondo::engine {

using kernel::Storage;
using step::Tensor;

namespace {

// "B=0 T=3 H=0 row=1 D=17"
std::string place_of(const Tensor& tensor, const std::vector<std::int64_t>& shape, std::int64_t element) {
  const std::vector<std::string> axes = axes_of(tensor);
  std::string place;
  for (std::size_t i = shape.size(); i-- > 0; element /= shape[i]) {
    const bool row = axes[i].find_first_not_of("0123456789") == std::string::npos;
    place =
        fmt::format("{}={}{}{}", row ? "row" : axes[i], element % shape[i], place.empty() ? "" : " ", place);
  }
  return place;
}

class RangeCheck {
 public:
  RangeCheck(const step::Cell& cell, const step::Overrides& constants) : cell_(cell), constants_(constants) {}

  Status look(const std::vector<NamedArray>& arrays, Storage words, Storage storage) const {
    for (const NamedArray& entry : arrays)
      if (Status status = look(entry, words, storage); !status) return status;
    return success();
  }
  Status take_lengths(const std::vector<NamedArray>& lengths) {
    if (lengths.empty()) return success();
    Result<std::vector<double>> values = npy_integers(lengths.front().array, lengths.front().origin);
    if (!values) return values.error();
    lengths_ = std::move(values).value();
    return success();
  }

 private:
  Status look(const NamedArray& entry, Storage words, Storage storage) const {
    const std::optional<step::TensorId> id = cell_.find(entry.name);
    const Tensor* tensor = id ? &cell_.tensor(*id) : nullptr;
    const auto range = tensor ? step::range_of(cell_, *tensor, constants_) : std::nullopt;
    if (!range) return success();
    const Result<std::vector<double>> values = npy_values(entry.array, words, entry.origin);
    if (!values) return values.error();
    for (std::size_t i = 0; i < values->size(); ++i) {
      const double given = (*values)[i];
      const double rounded = scalar::nearest(storage, given);
      const auto element = static_cast<std::int64_t>(i);
      if (range->contains(given) || range->contains(rounded) || is_past_end(*tensor, entry, element))
        continue;
      return Error{ErrorKind::Input,
                   fmt::format("'{}' for '{}': {} at {} is not in {}, which cell {} says of it", entry.origin,
                               entry.name, given, place_of(*tensor, entry.array.shape, element),
                               range->text(), cell_.name),
                   "mend the array, or the range in the cell's text"};
    }
    return success();
  }

  bool is_past_end(const Tensor& tensor, const NamedArray& entry, std::int64_t element) const {
    if (tensor.kind != step::TensorKind::Input || lengths_.empty()) return false;
    const std::int64_t time = entry.array.shape[1];
    const std::int64_t step = element / (entry.array.elements() / (entry.array.shape[0] * time));
    const auto row = static_cast<std::size_t>(step / time);
    return row < lengths_.size() && static_cast<double>(step % time) >= lengths_[row];
  }

  const step::Cell& cell_;
  const step::Overrides& constants_;
  std::vector<double> lengths_;
};

}  // namespace

Status check_ranges(const step::Cell& cell, const RunArrays& arrays, Storage storage,
                    const step::Overrides& constants) {
  RangeCheck check(cell, constants);
  if (Status status = check.take_lengths(arrays.lengths); !status) return status;
  if (Status status = check.look(arrays.inputs, storage, storage); !status) return status;
  if (Status status = check.look(arrays.params, storage, scalar::computed_in(storage)); !status)
    return status;
  return check.look(arrays.states, storage, scalar::computed_in(storage));
}

}  // namespace rondo::engine
