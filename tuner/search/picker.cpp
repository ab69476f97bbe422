#include "tuner/search/picker.h"

#include <algorithm>
#include <set>

namespace rondo::tuner {

namespace {

constexpr std::size_t kCentres = 4;  // leaders whose neighbours are visited
constexpr std::size_t kFirst = 8;    // the model's favourites go first of all
constexpr double kHopeful = 4;       // times the model's best: worth a try of each strategy

}  // namespace

std::size_t first_choice(const std::vector<engine::Candidate>& candidates) {
  const auto safe = std::ranges::find_if(
      candidates, [](const engine::Candidate& candidate) { return !candidate.estimate.may_spill; });
  return safe == candidates.end() ? 0 : static_cast<std::size_t>(safe - candidates.begin());
}

Picker::Picker(const std::vector<engine::Candidate>& candidates)
    : candidates_(candidates), tried_(candidates.size(), false) {
  std::map<Axis, std::set<std::int64_t>> values;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const engine::Candidate& candidate = candidates[i];
    index_[{candidate.strategy, candidate.parameters}] = i;
    for (const auto& [name, value] : candidate.parameters)
      // Ranked: the first candidate with a value is the model's best with it.
      if (values[{candidate.strategy, name}].insert(value).second) cover_.push_back(i);
  }
  for (const auto& [axis, set] : values) values_[axis].assign(set.begin(), set.end());
  choose_first();
}

// What a tune has to beat, the model's best, the best of each other strategy, since it errs more between two
// than within one, and then by rank, one of each price: what differs in nothing that the model sees shares
// one place.
void Picker::choose_first() {
  if (candidates_.empty()) return;
  std::set<std::string> strategies;
  std::set<std::pair<std::string, double>> prices;
  const double most = kHopeful * candidates_.front().estimate.seconds;
  const engine::Candidate& untuned = candidates_[first_choice(candidates_)];
  strategies.insert(untuned.strategy);
  prices.emplace(untuned.strategy, untuned.estimate.seconds);
  first_.push_back(first_choice(candidates_));
  for (const bool of_each_strategy : {true, false})
    for (std::size_t i = 0; i < candidates_.size() && first_.size() < std::min(kFirst, candidates_.size());
         ++i) {
      const engine::Candidate& candidate = candidates_[i];
      if (candidate.estimate.seconds > most) break;
      if (of_each_strategy && !strategies.insert(candidate.strategy).second) continue;
      if (prices.emplace(candidate.strategy, candidate.estimate.seconds).second) first_.push_back(i);
    }
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

// Moves one parameter along the values it takes in the space; false at the end of them.
bool Picker::step(engine::Candidate& candidate, const std::string& parameter, int by) const {
  const std::vector<std::int64_t>& values = values_.at({candidate.strategy, parameter});
  std::int64_t& value = candidate.parameters.at(parameter);
  const auto place = std::lower_bound(values.begin(), values.end(), value) - values.begin() + by;
  if (place < 0 || place >= static_cast<std::ptrdiff_t>(values.size())) return false;
  value = values[static_cast<std::size_t>(place)];
  return true;
}

void Picker::add_if_known(const engine::Candidate& candidate, std::vector<std::size_t>& to) const {
  const auto found = index_.find({candidate.strategy, candidate.parameters});
  if (found != index_.end()) to.push_back(found->second);
}

// One step along an axis; two along one, or one along each of two: a step that the space forbids alone may be
// legal with another.
const Picker::Neighbours& Picker::neighbours(std::size_t centre) const {
  const auto [place, is_new] = neighbours_.try_emplace(centre);
  Neighbours& result = place->second;
  if (!is_new) return result;
  for (const auto& [name, value] : candidates_[centre].parameters)
    for (const int by : {-1, 1}) {
      engine::Candidate near = candidates_[centre];
      if (!step(near, name, by)) continue;
      add_if_known(near, result.one_step);
      for (const auto& [other, ignored] : candidates_[centre].parameters)
        for (const int then : {-1, 1}) {
          engine::Candidate far = near;
          if ((other != name || then == by) && step(far, other, then)) add_if_known(far, result.two_steps);
        }
    }
  std::ranges::sort(result.one_step);
  std::ranges::sort(result.two_steps);
  return result;
}

std::optional<std::size_t> Picker::untried(const std::vector<std::size_t>& points) const {
  for (const std::size_t point : points)
    if (!tried_[point]) return point;
  return std::nullopt;
}

std::optional<std::size_t> Picker::by_neighbour() {
  for (const auto& [seconds, centre] : best_)
    if (const auto near = untried(neighbours(centre).one_step)) return near;
  for (const auto& [seconds, centre] : best_)
    if (const auto far = untried(neighbours(centre).two_steps)) return far;
  return std::nullopt;
}

bool Picker::local_optimum() const {
  if (best_.empty()) return false;
  return !untried(neighbours(best_.begin()->second).one_step);
}

std::optional<std::size_t> Picker::next() {
  while (next_first_ < first_.size())
    if (const std::size_t candidate = first_[next_first_++]; !tried_[candidate]) return take(candidate);
  // Two neighbours, one of coverage (while there is any), one by rank, and so on; each falls back on the
  // others.
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
