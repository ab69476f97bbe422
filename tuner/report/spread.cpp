#include "tuner/report/spread.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace rondo::tuner {
namespace {

constexpr std::size_t kLeastPoints = 8;

struct Group {
  double sum = 0, count = 0;
};

struct Observation {
  const schedule::Parameters* parameters;
  double value;
};

// The share of `total`, the sum of squares about the mean, that the groups of one parameter's values explain.
ExplainedSpread share_of(const std::string& name, const std::vector<Observation>& points, double total) {
  std::map<std::int64_t, Group> groups;
  double sum = 0, count = 0;
  for (const Observation& point : points) {
    const auto found = point.parameters->find(name);
    if (found == point.parameters->end()) continue;
    Group& group = groups[found->second];
    group.sum += point.value;
    ++group.count;
    sum += point.value;
    ++count;
  }
  ExplainedSpread share{name, 0, static_cast<int>(groups.size())};
  const double k = static_cast<double>(groups.size());
  // A parameter that not all points have tells of some of them alone.
  if (groups.size() < 2 || count <= k || count < static_cast<double>(points.size())) return share;
  double between = 0;
  for (const auto& [value, group] : groups) {
    const double off = group.sum / group.count - sum / count;
    between += group.count * off * off;
  }
  const double within = std::max(total - between, 0.0) / (count - k);
  share.share = std::clamp((between - (k - 1) * within) / total, 0.0, 1.0);
  return share;
}

}  // namespace

std::vector<ExplainedSpread> explained_spread(const std::vector<TimedPoint>& points) {
  std::vector<Observation> used;
  std::set<std::string> names;
  double sum = 0;
  for (const TimedPoint& point : points)
    if (point.seconds > 0 && std::isfinite(point.seconds)) {
      used.push_back({&point.parameters, std::log(point.seconds)});
      sum += used.back().value;
      for (const auto& [name, value] : point.parameters) names.insert(name);
    }
  if (used.size() < kLeastPoints) return {};
  const double mean = sum / static_cast<double>(used.size());
  double total = 0;
  for (const Observation& point : used) total += (point.value - mean) * (point.value - mean);
  if (total <= 1e-12) return {};
  std::vector<ExplainedSpread> shares;
  for (const std::string& name : names)
    if (ExplainedSpread share = share_of(name, used, total); share.values > 1)
      shares.push_back(std::move(share));
  std::ranges::stable_sort(shares, [](const auto& a, const auto& b) { return a.share > b.share; });
  return shares;
}

}  // namespace rondo::tuner
