#include "compiler/schedule/problem/parameter_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace rondo::schedule {

void read_values(std::string_view strategy, std::span<const ParameterRow> rows, const Parameters& given,
                 std::span<std::int64_t> values) {
  std::string faults;
  const auto fault = [&](const std::string& text) { faults += (faults.empty() ? "" : "; ") + text; };
  std::vector<bool> found(rows.size());
  for (const auto& [name, value] : given) {
    const auto row = std::ranges::find(rows, std::string_view(name), &ParameterRow::name);
    if (row == rows.end()) {
      fault(fmt::format("there is no parameter {}", name));
      continue;
    }
    const ParameterValues& of = row->values;
    if (of.is_range() && !of.contains(value))
      fault(fmt::format("{} is {}, not {} to {}", name, value, of.least(), of.most()));
    if (!of.is_range() && value < of.least())
      fault(fmt::format("{} is {}, less than {}", name, value, of.least()));
    const auto place = static_cast<std::size_t>(row - rows.begin());
    values[place] = value;
    found[place] = true;
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!found[i] && !rows[i].past.added && !rows[i].past.optional)
      fault(fmt::format("parameter {} is missing", rows[i].name));
  if (!faults.empty()) throw std::logic_error(fmt::format("{}: {}", strategy, faults));
}

Parameters renamed(Parameters recorded, std::span<const ParameterRow> rows) {
  for (const ParameterRow& row : rows) {
    const auto old = row.past.was.empty() ? recorded.end() : recorded.find(std::string(row.past.was));
    if (old == recorded.end() || recorded.count(std::string(row.name)) > 0) continue;
    recorded.emplace(row.name, old->second + row.past.shift);
    recorded.erase(old);
  }
  return recorded;
}

Parameters completed(Parameters recorded, std::span<const ParameterRow> rows) {
  Parameters result = renamed(std::move(recorded), rows);
  for (const ParameterRow& row : rows)
    if (row.past.added) result.emplace(row.name, row.initial);
  return result;
}

}  // namespace rondo::schedule
