#include "compiler/schedule/problem/parameters.h"

#include <fmt/format.h>

#include <algorithm>

namespace rondo::schedule {

namespace {

struct Word {
  std::string_view parameter;
  std::int64_t value;
  std::string_view word;
};

constexpr Word kWords[] = {
    {"exchange", static_cast<std::int64_t>(Exchange::Cluster), "cluster"},
    {"exchange", static_cast<std::int64_t>(Exchange::Global), "global"},
    {"exchange", static_cast<std::int64_t>(Exchange::Launch), "launch"},
    {"keep_inputs", 0, "memory"},
    {"keep_inputs", 1, "shared"},
    {"keep_inputs", 2, "registers"},
    {"rewrite", 0, "none"},
    {"rewrite", 1, "latency"},
    {"rewrite", 2, "throughput"},
};

std::string value_text(const std::string& parameter, std::int64_t value) {
  const auto* found = std::find_if(std::begin(kWords), std::end(kWords), [&](const Word& word) {
    return word.parameter == parameter && word.value == value;
  });
  return found == std::end(kWords) ? std::to_string(value) : std::string(found->word);
}

}  // namespace

std::string print(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value_text(name, value));
  return text;
}

std::optional<std::int64_t> value_of_word(const std::string& parameter, std::string_view word) {
  for (const Word& known : kWords)
    if (known.parameter == parameter && known.word == word) return known.value;
  return std::nullopt;
}

std::string words_of(const std::string& parameter) {
  std::string text;
  for (const Word& known : kWords)
    if (known.parameter == parameter) text += fmt::format("{}{}", text.empty() ? "" : ", ", known.word);
  return text;
}

Parameters renamed(Parameters recorded, std::span<const RenamedParameter> table) {
  for (const RenamedParameter& entry : table) {
    const std::string was(entry.was), now(entry.now);
    const auto old = recorded.find(was);
    if (old == recorded.end() || recorded.count(now) > 0) continue;
    recorded.emplace(now, old->second + entry.shift);
    recorded.erase(was);
  }
  return recorded;
}

}  // namespace rondo::schedule
