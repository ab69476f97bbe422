// The end of a search in which nothing was right: strategies that had no turn get one, and what was found is
// told.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tuner/search/state.h"

namespace rondo::tuner {

using db::TrialStatus;

namespace {

constexpr std::size_t kTriesOfStrategy = 3;

std::string times_limit(double excess) {
  return std::isfinite(excess) ? fmt::format("{:.3g} times its limit", excess)
                               : std::string("beyond any limit: elements missing, not finite or misplaced");
}

}  // namespace

// Of two wrong ones that nearer to its limit is kept: what is found of it says most.
void Search::spare(std::size_t candidate) {
  if (spared_ && row(*spared_).verdict.excess <= row(candidate).verdict.excess)
    return measurer_.drop(candidate);
  if (spared_) measurer_.drop(*spared_);
  spared_ = candidate;
}

std::vector<std::string> Search::untried_strategies() const {
  std::set<std::string> left;
  for (const engine::Candidate& candidate : candidates_) left.insert(candidate.strategy);
  for (const auto& [candidate, r] : rows_)
    if (r.timing.samples > 0) left.erase(r.candidate.strategy);
  return {left.begin(), left.end()};
}

// The model's first few of each.
void Search::try_other_strategies() {
  if (!spared_ || best_ || cancelled() || !measurer_.alive()) return;
  for (const std::string& strategy : untried_strategies()) {
    std::size_t given = 0;
    for (std::size_t i = 0; i < candidates_.size() && given < kTriesOfStrategy; ++i) {
      if (candidates_[i].strategy != strategy || rows_.count(i) > 0) continue;
      begin_with(i);
      ++given;
    }
  }
  const double end = elapsed() + options_.diagnosis_s;
  while (in_flight_ > 0 && !best_ && !cancelled() && measurer_.alive() && elapsed() < end) take_compiled();
}

void Search::diagnose() {
  if (!spared_ || best_ || cancelled() || !measurer_.alive()) return;
  Diagnosis found;
  std::map<std::string, Diagnosis::Tensor> tensors;
  std::map<std::string, Diagnosis::Strategy> strategies;
  for (const auto& [candidate, r] : rows_) {
    Diagnosis::Strategy& strategy = strategies[r.candidate.strategy];
    strategy.name = r.candidate.strategy;
    strategy.tried += r.status != TrialStatus::Ok || r.timing.samples > 0;
    if (r.status != TrialStatus::Wrong) continue;
    ++found.wrong;
    ++strategy.wrong;
    Diagnosis::Tensor& tensor = tensors[r.verdict.tensor];
    tensor.name = r.verdict.tensor;
    tensor.least_excess =
        tensor.candidates == 0 ? r.verdict.excess : std::min(tensor.least_excess, r.verdict.excess);
    ++tensor.candidates;
  }
  for (const auto& [name, tensor] : tensors) found.tensors.push_back(tensor);
  std::ranges::stable_sort(found.tensors,
                           [](const auto& a, const auto& b) { return a.candidates > b.candidates; });
  for (const auto& [name, strategy] : strategies) found.strategies.push_back(strategy);
  found.untried = untried_strategies();
  found.nearest = row(*spared_).candidate;
  found.verdict = row(*spared_).verdict;
  if (const Result<engine::Verdict> again = measurer_.verify(*spared_, options_.other_seed); again) {
    found.other_seed = options_.other_seed;
    found.with_other_seed = *again;
  }
  measurer_.drop(*spared_);
  diagnosis_ = std::move(found);
}

std::string Diagnosis::text() const {
  std::string text = fmt::format("all {} candidates that ran give wrong results", wrong);
  for (const Tensor& tensor : tensors)
    text += fmt::format("\n  {}: worst tensor of {}, at least {}", tensor.name, tensor.candidates,
                        times_limit(tensor.least_excess));
  for (const Strategy& strategy : strategies)
    text += fmt::format("\n  strategy {}: {} tried, {} ran, all wrong", strategy.name, strategy.tried,
                        strategy.wrong);
  for (const std::string& strategy : untried) text += fmt::format("\n  strategy {}: none ran", strategy);
  text += fmt::format("\n  nearest to right: {} {}\n    {}", nearest.strategy,
                      schedule::print(nearest.parameters), verdict.summary);
  if (other_seed != 0)
    text += with_other_seed.passed
                ? fmt::format("\n    on data of seed {} it is right: {}", other_seed, with_other_seed.summary)
                : fmt::format("\n    on data of seed {} it is wrong too: {}", other_seed,
                              with_other_seed.summary);
  return text;
}

std::string Diagnosis::advice() const {
  if (other_seed != 0 && with_other_seed.passed)
    return fmt::format(
        "it depends on the data, as where a cell divides by what may be near zero: tune again with --seed "
        "{}, and "
        "please report the cell file and this text",
        other_seed);
  return "`rondo verify --simulate` with the same cell and shape says whether the kernels or this GPU and "
         "its "
         "driver are at fault; other strategies and types may work (--strategy, --dtype fp32); please report "
         "the "
         "cell file and this text";
}

}  // namespace rondo::tuner
