// What is told of parameters outside of the program, from the strategies' tables.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "compiler/schedule/strategies.h"

namespace rondo::schedule::testing {

// As the table of a page has them: "1, 2, 4", "0 to 64", "`cluster`, `global`".
inline std::string values_text(const ParameterRow& row) {
  const ParameterValues& values = row.values;
  if (row.worded == nullptr && values.is_range() && values.most() > values.least() + 1)
    return fmt::format("{} to {}", values.least(), values.most());
  std::string text;
  for (int value = values.least(); value <= values.most(); ++value) {
    if (!values.contains(value)) continue;
    text += text.empty() ? "" : ", ";
    text += row.worded == nullptr
                ? std::to_string(value)
                : fmt::format("`{}`", row.worded->words.at(static_cast<std::size_t>(value)));
  }
  return text;
}

inline const std::string kPageHeader = "| parameter | values | meaning |\n|---|---|---|\n";

// The rows of a strategy's page.
inline std::string page_rows(std::span<const ParameterRow> rows) {
  std::string text;
  for (const ParameterRow& row : rows)
    text += fmt::format("| `{}` | {} | {} |\n", row.name, values_text(row), row.label);
  return text;
}

// benchmarks/parameter_names.json: what readers of records have to know of earlier names.
inline std::string names_json() {
  nlohmann::json all;
  for (const Strategy* strategy : strategies())
    for (const ParameterRow& row : strategy->parameters()) {
      const std::string name(row.name);
      if (!row.past.was.empty())
        all["renamed"][strategy->name()][std::string(row.past.was)] = {name, row.past.shift};
      if (row.past.added) all["added"][strategy->name()][name] = row.initial;
      if (row.worded == nullptr) continue;
      for (std::size_t value = 0; value < row.worded->words.size(); ++value)
        all["words"][name][std::string(row.worded->words.at(value))] = value;
    }
  return all.dump(1) + "\n";
}

inline std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace rondo::schedule::testing
