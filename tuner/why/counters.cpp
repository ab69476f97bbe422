#include "tuner/why/counters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>

namespace rondo::tuner {

namespace {

constexpr const char* kBytes = "dram__bytes.sum";
constexpr const char* kTensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
constexpr const char* kTime = "gpu__time_duration.sum";

using Fields = std::vector<std::string>;

// The fields of a line: each may stand in quotes, within which a comma is no end and two quotes are one.
Fields fields_of(const std::string& line) {
  Fields fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      fields.back() += line[++i];
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == ',' && !quoted)
      fields.emplace_back();
    else if (line[i] != '\r')
      fields.back() += line[i];
  }
  return fields;
}

// Thousands are parted by commas: "1,234,567".
std::optional<double> number(std::string text) {
  std::erase(text, ',');
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' || !(value >= 0) ? std::nullopt : std::optional(value);
}

// What the value is multiplied by to be in bytes, seconds or a share of one.
std::optional<double> unit(const std::string& name) {
  static const std::map<std::string, double> known = {{"byte", 1},   {"ns", 1e-9}, {"nsecond", 1e-9},
                                                      {"second", 1}, {"s", 1},     {"%", 0.01}};
  const auto found = known.find(name);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

Error bad(const std::string& what) {
  return {ErrorKind::Input, "no counters of ncu: " + what,
          fmt::format("record them with `ncu --csv --print-units base --metrics {}`",
                      fmt::join(counter_metrics(), ","))};
}

using Launches = std::map<std::string, std::map<std::string, double>>;  // by ID, each metric

Counters sum_of(const Launches& launches) {
  Counters sum;
  for (const auto& [id, metrics] : launches) {
    sum.bytes += metrics.at(kBytes);
    sum.tensor_share += metrics.at(kTensor) * metrics.at(kTime);
    sum.seconds += metrics.at(kTime);
    ++sum.launches;
  }
  if (sum.seconds > 0) sum.tensor_share /= sum.seconds;
  return sum;
}

}  // namespace

const std::vector<std::string>& counter_metrics() {
  static const std::vector<std::string> all = {kBytes, kTensor, kTime};
  return all;
}

Result<Counters> counters_of(const std::string& csv) {
  Fields head;
  Launches launches;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    const Fields fields = fields_of(line);
    if (head.empty()) {
      if (fields.front() == "ID") head = fields;
      continue;
    }
    const auto field = [&](const char* name) -> std::string {
      const auto at = static_cast<std::size_t>(std::ranges::find(head, name) - head.begin());
      return at < fields.size() ? fields[at] : "";
    };
    const std::string metric = field("Metric Name");
    if (std::ranges::find(counter_metrics(), metric) == counter_metrics().end()) continue;
    const std::optional<double> value = number(field("Metric Value")), in = unit(field("Metric Unit"));
    if (!value || !in)
      return bad(fmt::format("{} is '{}' in '{}'", metric, field("Metric Value"), field("Metric Unit")));
    launches[field("ID")][metric] = *value * *in;
  }
  if (head.empty()) return bad("there is no table");
  if (launches.empty()) return bad("no launch has a metric");
  for (const auto& [id, metrics] : launches)
    for (const std::string& metric : counter_metrics())
      if (!metrics.contains(metric)) return bad(fmt::format("launch {} has no {}", id, metric));
  return sum_of(launches);
}

}  // namespace rondo::tuner
