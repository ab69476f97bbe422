#include "tuner/picker.h"

#include <algorithm>
#include <set>

namespace rondo::tuner {

using runtime::Candidate;
using schedule::Parameters;

namespace {

constexpr std::size_t kCentres = 4;    // leaders whose neighbours are visited
constexpr std::size_t kFirstRanked = 8;  // the model's favourites go first of all

}  // namespace

Picker::Picker(const std::vector<Candidate>& candidates) : candidates_(candidates), tried_(candidates.size(), false) {
  std::map<Axis, std::set<std::int64_t>> values;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    index_[{candidate.strategy, candidate.parameters}] = i;
    for (const auto& [name, value] : candidate.parameters)
      // Ranked: the first candidate with a value is the model's best with it.
      if (values[{candidate.strategy, name}].insert(value).second) cover_.push_back(i);
  }
  for (const auto& [axis, set] : values) values_[axis].assign(set.begin(), set.end());
}

std::size_t Picker::take(std::size_t candidate) {
  tried_[candidate] = true;
  ++given_;
  return candidate;
}

std::optional<std::size_t> Picker::by_rank() {
  while (next_rank_ < candidates_.size() && tried_[next_rank_]) ++next_rank_;
  if (next_rank_ == candidates_.size()) return std::nullopt;
  return next_rank_;
}

std::optional<std::size_t> Picker::by_coverage() {
  while (next_cover_ < cover_.size() && tried_[cover_[next_cover_]]) ++next_cover_;
  if (next_cover_ == cover_.size()) return std::nullopt;
  return cover_[next_cover_];
}

std::optional<std::size_t> Picker::stepped(std::size_t from, const std::string& parameter, int step) const {
  const Candidate& centre = candidates_[from];
  const std::vector<std::int64_t>& values = values_.at({centre.strategy, parameter});
  const auto place = std::lower_bound(values.begin(), values.end(), centre.parameters.at(parameter)) - values.begin();
  if (place + step < 0 || place + step >= static_cast<std::ptrdiff_t>(values.size())) return std::nullopt;
  std::pair<std::string, Parameters> key{centre.strategy, centre.parameters};
  key.second[parameter] = values[static_cast<std::size_t>(place + step)];
  const auto found = index_.find(key);
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

// Of the points one step away (or two: along one axis, or along two), the one the model likes best.
std::optional<std::size_t> Picker::untried_neighbour(std::size_t centre, bool two_steps) const {
  std::optional<std::size_t> best;
  auto offer = [&](std::optional<std::size_t> point) {
    if (point && !tried_[*point] && (!best || *point < *best)) best = point;
  };
  for (const auto& [name, value] : candidates_[centre].parameters)
    for (const int step : {-1, 1}) {
      const std::optional<std::size_t> near = stepped(centre, name, step);
      offer(near);
      if (!two_steps) continue;
      offer(stepped(centre, name, 2 * step));
      // A step that the space forbids alone may be legal with another: both are changed on a copy.
      Candidate moved = candidates_[centre];
      const auto& own = values_.at({moved.strategy, name});
      const auto place = std::lower_bound(own.begin(), own.end(), value) - own.begin() + step;
      if (place < 0 || place >= static_cast<std::ptrdiff_t>(own.size())) continue;
      moved.parameters[name] = own[static_cast<std::size_t>(place)];
      for (const auto& [other, at] : candidates_[centre].parameters) {
        if (other == name) continue;
        const auto& theirs = values_.at({moved.strategy, other});
        const auto there = std::lower_bound(theirs.begin(), theirs.end(), at) - theirs.begin();
        for (const int second : {-1, 1}) {
          if (there + second < 0 || there + second >= static_cast<std::ptrdiff_t>(theirs.size())) continue;
          std::pair<std::string, Parameters> key{moved.strategy, moved.parameters};
          key.second[other] = theirs[static_cast<std::size_t>(there + second)];
          if (const auto found = index_.find(key); found != index_.end()) offer(found->second);
        }
      }
    }
  return best;
}

std::optional<std::size_t> Picker::by_neighbour() {
  for (const bool two_steps : {false, true})
    for (const auto& [seconds, centre] : best_)
      if (const auto near = untried_neighbour(centre, two_steps)) return near;
  return std::nullopt;
}

bool Picker::local_optimum() const {
  if (best_.empty()) return false;
  return !untried_neighbour(best_.begin()->second, false);
}

std::optional<std::size_t> Picker::next() {
  if (given_ < std::min(kFirstRanked, candidates_.size())) return take(*by_rank());
  // Two neighbours, one of coverage (while there is any), one by rank, and so on; each falls back on the others.
  std::optional<std::size_t> choice;
  switch (turn_++ % 4) {
    case 0: choice = by_coverage(); break;
    case 2: choice = by_rank(); break;
    default: choice = by_neighbour(); break;
  }
  if (!choice) choice = by_neighbour();
  if (!choice) choice = by_rank();
  return choice ? std::optional(take(*choice)) : std::nullopt;
}

void Picker::measured(std::size_t candidate, double seconds) {
  while (best_.count(seconds) > 0) seconds = seconds * (1 + 1e-12) + 1e-15;  // ties stay both
  best_[seconds] = candidate;
  if (best_.size() > kCentres) best_.erase(std::prev(best_.end()));
}

}  // namespace rondo::tuner
