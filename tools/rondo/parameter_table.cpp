#include "tools/rondo/parameter_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rondo::tools {
namespace {

// What the strategy's configurations have in common; nothing where there is only one.
schedule::Parameters common_of(const std::string& strategy,
                               const std::vector<Configuration>& configurations) {
  schedule::Parameters common;
  int count = 0;
  for (const Configuration& each : configurations) {
    if (each.strategy != strategy) continue;
    if (++count == 1) common = each.parameters;
    std::erase_if(common, [&](const auto& parameter) {
      const auto found = each.parameters.find(parameter.first);
      return found == each.parameters.end() || found->second != parameter.second;
    });
  }
  return count > 1 ? common : schedule::Parameters{};
}

}  // namespace

ParameterTable parameter_table(const std::vector<Configuration>& configurations) {
  ParameterTable table;
  std::vector<std::string> seen;
  for (const auto& [strategy, parameters] : configurations) {
    const schedule::Parameters common = common_of(strategy, configurations);
    schedule::Parameters own;
    std::ranges::set_difference(parameters, common, std::inserter(own, own.end()));
    table.rows.push_back(own.empty() ? strategy : fmt::format("{} {}", strategy, schedule::print(own)));
    if (common.empty() || std::ranges::find(seen, strategy) != seen.end()) continue;
    table.common += fmt::format("  all {}: {}\n", strategy, schedule::print(common));
    seen.push_back(strategy);
  }
  return table;
}

}  // namespace rondo::tools
