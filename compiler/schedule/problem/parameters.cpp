#include "compiler/schedule/problem/parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace rondo::schedule {

namespace {

const WordedParameter* worded(std::string_view name) {
  static constexpr const WordedParameter* kAll[] = {&kWorded<Exchange>, &kWorded<Rewrite>,
                                                    &kWorded<KeptInputs>};
  const auto* const found = std::ranges::find(kAll, name, &WordedParameter::name);
  return found == std::end(kAll) ? nullptr : *found;
}

std::string value_text(const std::string& parameter, std::int64_t value) {
  const WordedParameter* known = worded(parameter);
  if (known == nullptr || value < 0 || value >= std::ssize(known->words)) return std::to_string(value);
  return std::string(known->words[static_cast<std::size_t>(value)]);
}

}  // namespace

std::string print(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value_text(name, value));
  return text;
}

std::optional<std::int64_t> value_of_word(const std::string& parameter, std::string_view word) {
  const WordedParameter* known = worded(parameter);
  if (known == nullptr) return std::nullopt;
  const auto* const found = std::ranges::find(known->words, word);
  if (found == known->words.end()) return std::nullopt;
  return found - known->words.begin();
}

std::string words_of(const std::string& parameter) {
  const WordedParameter* known = worded(parameter);
  return known == nullptr ? "" : fmt::format("{}", fmt::join(known->words, ", "));
}

}  // namespace rondo::schedule
