#include "compiler/constraint/assignment.h"

#include <fmt/format.h>

namespace rondo::constraint {

Value Assignment::operator[](std::string_view name) const {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (names_->variables[i].name == name) return values_[i];
  }
  for (const Names::Quantity& quantity : names_->definitions) {
    if (quantity.name != name) continue;
    if (const std::optional<Value> found = value(quantity.value)) return *found;
    throw std::logic_error(fmt::format("'{}' has no value at {}", name, to_string()));
  }
  throw std::logic_error(fmt::format("no variable or quantity is called '{}'", name));
}

std::vector<std::pair<std::string, Value>> Assignment::items() const {
  std::vector<std::pair<std::string, Value>> list;
  for (std::size_t i = 0; i < values_.size(); ++i) list.emplace_back(names_->variables[i].name, values_[i]);
  for (const Names::Quantity& quantity : names_->definitions) {
    if (const std::optional<Value> found = value(quantity.value)) list.emplace_back(quantity.name, *found);
  }
  return list;
}

std::string Assignment::to_string() const {
  std::string text;
  for (const auto& [name, number] : items()) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, number);
  }
  return text;
}

}  // namespace rondo::constraint
