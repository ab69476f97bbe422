#include "compiler/target/floors.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

namespace rondo::target {

namespace {

using Of = MeasuredFloor::Of;

constexpr std::array<std::pair<Of, const char*>, 9> kNames = {{{Of::GridExchange, "grid exchange"},
                                                               {Of::ClusterExchange, "cluster exchange"},
                                                               {Of::BlockExchange, "block exchange"},
                                                               {Of::Barrier, "barrier"},
                                                               {Of::NamedBarrier, "named barrier"},
                                                               {Of::LaneSum, "lane sum"},
                                                               {Of::SharedLoad, "shared load"},
                                                               {Of::Product, "product"},
                                                               {Of::Function, "function"}}};

// On the line through the two points of a map that are nearest to `at`; the first value before the first
// point, and past the last one the last line goes on, or its value stays.
double between(const std::map<int, double>& points, double at, bool goes_on) {
  auto above = points.lower_bound(static_cast<int>(at));
  while (above != points.end() && above->first < at) ++above;
  if (above == points.begin()) return above->second;
  if (above == points.end()) {
    --above;
    if (!goes_on || above == points.begin()) return above->second;
  }
  const auto below = std::prev(above);
  const double share = (at - below->first) / (above->first - below->first);
  return below->second + share * (above->second - below->second);
}

}  // namespace

const char* floor_name(Of of) {
  return std::ranges::find(kNames, of, &std::pair<Of, const char*>::first)->second;
}

std::optional<Of> floor_of_name(const std::string& name) {
  const auto* const found = std::ranges::find_if(kNames, [&](const auto& row) { return name == row.second; });
  return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

std::optional<double> Floors::exchange(Of of, int blocks, double bytes) const {
  std::map<int, std::map<int, double>> teams;
  for (const MeasuredFloor& floor : all)
    if (floor.of == of) teams[floor.blocks][floor.bytes] = floor.seconds;
  if (teams.empty()) return std::nullopt;
  std::map<int, double> of_teams;
  for (auto& [size, points] : teams) {
    double least = std::prev(points.end())->second;
    for (auto point = points.rbegin(); point != points.rend(); ++point)
      least = point->second = std::min(least, point->second);
    of_teams[size] = between(points, bytes, true);
  }
  return between(of_teams, blocks, false);
}

const MeasuredFloor* Floors::find(Of of, const std::string& by) const {
  const auto found =
      std::ranges::find_if(all, [&](const MeasuredFloor& floor) { return floor.of == of && floor.by == by; });
  return found == all.end() ? nullptr : &*found;
}

std::optional<double> Floors::seconds(Of of, const std::string& by) const {
  const MeasuredFloor* floor = find(of, by);
  return floor == nullptr ? std::nullopt : std::optional(floor->seconds);
}

std::optional<double> Floors::per_cycle_sm(const std::string& product) const {
  const MeasuredFloor* floor = find(Of::Product, product);
  return floor == nullptr || floor->per_cycle_sm <= 0 ? std::nullopt : std::optional(floor->per_cycle_sm);
}

}  // namespace rondo::target
