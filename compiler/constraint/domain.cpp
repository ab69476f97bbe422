#include "compiler/constraint/domain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace rondo::constraint {

Domain::Domain(std::vector<Value> list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  if (list.size() > kMaxSize) throw std::length_error(fmt::format("domain of {} values", list.size()));
  values_ = std::make_shared<const std::vector<Value>>(std::move(list));
}

bool Domain::contains(Value value) const {
  return std::binary_search(values_->begin(), values_->end(), value);
}

std::string Domain::to_string() const {
  const std::vector<Value>& list = *values_;
  if (list.empty()) return "no value";
  const bool gapless = Wide{list.back()} - list.front() + 1 == static_cast<Wide>(list.size());
  if (gapless && list.size() > 4) return fmt::format("{} to {}", list.front(), list.back());
  if (list.size() <= 12) return fmt::format("{}", fmt::join(list, ", "));
  return fmt::format("{}, {}, {}, ..., {}", list[0], list[1], list[2], list.back());
}

Domain values(std::vector<Value> list) { return Domain(std::move(list)); }

Domain range(Value first, Value last, Value step) {
  if (step < 1) throw std::logic_error("a range needs a step of at least 1");
  if (first > last) return Domain({});
  if ((Wide{last} - first) / step >= static_cast<Wide>(Domain::kMaxSize)) {
    throw std::length_error(fmt::format("range {} to {} has too many values", first, last));
  }
  std::vector<Value> list;
  for (Wide value = first; value <= last; value += step) list.push_back(static_cast<Value>(value));
  return Domain(std::move(list));
}

Domain powers_of_two(Value least, Value most) {
  std::vector<Value> list;
  for (int shift = 0; shift < 63; ++shift) {
    const Value value = Value{1} << shift;
    if (value >= least && value <= most) list.push_back(value);
  }
  return Domain(std::move(list));
}

}  // namespace rondo::constraint
