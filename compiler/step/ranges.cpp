#include "compiler/step/ranges.h"

#include <fmt/format.h>

#include <cmath>

namespace rondo::step {

bool Interval::contains(double value) const {
  return (value > low || (low_closed && value == low)) && (value < high || (high_closed && value == high));
}

bool Interval::empty() const { return !(low < high || (low == high && low_closed && high_closed)); }

bool Interval::bounded() const { return std::isfinite(low) && std::isfinite(high); }

std::string Interval::text() const {
  return fmt::format("{}{}, {}{}", low_closed ? '[' : '(', low, high, high_closed ? ']' : ')');
}

double number_of(const Cell& cell, const DeclaredNumber& number, const Overrides& overrides) {
  if (number.const_index < 0) return number.value;
  const NamedConstant& constant = cell.constants.at(static_cast<std::size_t>(number.const_index));
  const auto given = overrides.find(constant.name);
  const double value = given == overrides.end() ? constant.value : given->second;
  return number.negated ? -value : value;
}

std::optional<Interval> range_of(const Cell& cell, const Tensor& tensor, const Overrides& overrides) {
  if (!tensor.range) return std::nullopt;
  return Interval{number_of(cell, tensor.range->low, overrides),
                  number_of(cell, tensor.range->high, overrides), tensor.range->low_closed,
                  tensor.range->high_closed};
}

double first_of(const Cell& cell, const Tensor& tensor, const Overrides& overrides) {
  return number_of(cell, tensor.first, overrides);
}

namespace {

std::string text_of(const Cell& cell, const DeclaredNumber& number) {
  if (number.const_index < 0) return fmt::format("{}", number.value);
  return (number.negated ? "-" : "") + cell.constants.at(static_cast<std::size_t>(number.const_index)).name;
}

}  // namespace

std::string declared_text(const Cell& cell, const Tensor& tensor) {
  std::string text;
  if (tensor.range)
    text +=
        fmt::format(" in {}{}, {}{}", tensor.range->low_closed ? '[' : '(', text_of(cell, tensor.range->low),
                    text_of(cell, tensor.range->high), tensor.range->high_closed ? ']' : ')');
  if (!tensor.first.is_zero()) text += " = " + text_of(cell, tensor.first);
  return text;
}

std::optional<RangeDefect> range_defect(const Cell& cell, const Tensor& tensor, const Overrides& overrides) {
  const std::optional<Interval> range = range_of(cell, tensor, overrides);
  const double first = first_of(cell, tensor, overrides);
  if (!std::isfinite(static_cast<float>(first)))
    return RangeDefect{fmt::format("state '{}' begins with {}, which fp32 does not hold", tensor.name, first),
                       "take a number in its place: -1e30"};
  if (!range) return std::nullopt;
  if (range->empty())
    return RangeDefect{fmt::format("the range {} of '{}' is empty", range->text(), tensor.name),
                       "write the lower number first; '[' and ']' take in the numbers beside them"};
  if ((range->low_closed && std::isinf(range->low)) || (range->high_closed && std::isinf(range->high)))
    return RangeDefect{fmt::format("the range {} of '{}' holds infinity", range->text(), tensor.name),
                       "write a round bracket beside inf"};
  if (tensor.kind == TensorKind::State && !range->contains(first))
    return RangeDefect{
        fmt::format("state '{}' begins with {}, which is not in {}", tensor.name, first, range->text()),
        fmt::format(
            "say what it begins with where the caller gives nothing: {}{} = ...", tensor.name,
            declared_text(
                cell,
                {tensor.kind, "", tensor.tail, tensor.lead, tensor.rows, tensor.span, tensor.range, {}}))};
  return std::nullopt;
}

Status check_ranges(const Cell& cell, const Overrides& overrides) {
  for (const Tensor& tensor : cell.tensors)
    if (const auto defect = range_defect(cell, tensor, overrides))
      return Error{ErrorKind::Input, fmt::format("cell {}: {}", cell.name, defect->message), defect->help};
  return success();
}

}  // namespace rondo::step
