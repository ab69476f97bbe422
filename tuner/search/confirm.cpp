// The end of a search: the leaders measured again side by side, and the table.
#include <algorithm>

#include "tuner/search/state.h"

namespace rondo::tuner {

using db::TrialStatus;

namespace {

constexpr double kLeaderMargin = 1.15;  // of the best's time: noise of the race is less than that
constexpr double kTwinShare = 0.93;     // of the budget, where trying other compilers has to end
constexpr double kOverrun = 1.02;       // of the budget, where confirming has to end

bool running(const Row& row) { return row.status == TrialStatus::Ok && row.timing.samples > 0; }

}  // namespace

// The fastest few that are right.
std::vector<std::size_t> Search::choose_leaders() {
  std::vector<std::size_t> order;
  for (const auto& [candidate, r] : rows_)
    if (running(r) && r.timing.median_s <= kLeaderMargin * best_seconds()) order.push_back(candidate);
  std::ranges::sort(
      order, [&](std::size_t a, std::size_t b) { return row(a).timing.median_s < row(b).timing.median_s; });
  std::vector<std::size_t> leaders;
  // Out of time or cancelled, only what is verified already stands.
  auto right = [&](std::size_t candidate) {
    const bool hurry = cancelled() || (!options_.exhaustive && elapsed() >= options_.budget_s);
    return measurer_.alive() && (row(candidate).verified || (!hurry && verify(candidate)));
  };
  for (const std::size_t candidate : order) {
    const bool enough = leaders.size() >= static_cast<std::size_t>(std::max(1, options_.leaders));
    if (enough || !measurer_.alive()) break;
    if (right(candidate)) leaders.push_back(candidate);
  }
  if (!options_.incumbent || std::ranges::count(leaders, *options_.incumbent) > 0) return leaders;
  const auto known = rows_.find(*options_.incumbent);
  if (known != rows_.end() && running(known->second) && right(known->first)) leaders.push_back(known->first);
  return leaders;
}

// The leaders by another compiler: they race like any candidate, and the best of them are confirmed.
void Search::try_twins() {
  if (!measurer_.can_run() || !best_) return;
  std::vector<std::size_t> leaders;
  for (const auto& [candidate, r] : rows_)
    if (running(r) && r.timing.median_s <= kLeaderMargin * best_seconds()) leaders.push_back(candidate);
  std::ranges::sort(
      leaders, [&](std::size_t a, std::size_t b) { return row(a).timing.median_s < row(b).timing.median_s; });
  leaders.resize(std::min(leaders.size(), static_cast<std::size_t>(std::max(1, options_.leaders))));
  for (const std::size_t leader : leaders)
    if (const std::optional<std::size_t> twin = measurer_.twin(leader)) {
      twins_[*twin] = leader;
      submit(*twin);
    }
  const auto out_of_time = [&] {
    return cancelled() || !measurer_.alive() ||
           (!options_.exhaustive && elapsed() >= kTwinShare * options_.budget_s);
  };
  while (!twins_.empty() && in_flight_ > 0 && !out_of_time()) take_compiled();
}

void Search::confirm() {
  if (!best_) return;
  report(Phase::Confirm);
  const std::vector<std::size_t> leaders = choose_leaders();
  if (leaders.size() < 2 || cancelled() || !measurer_.alive()) return;
  const double start = elapsed();
  auto stop = [&] {
    if (cancelled()) return true;
    return options_.exhaustive ? elapsed() > start + options_.budget_s
                               : elapsed() > options_.budget_s * kOverrun;
  };
  const auto samples = measurer_.run_interleaved(leaders, options_.confirm_rounds, stop);
  if (!samples) return run_alone(leaders);
  for (std::size_t i = 0; i < leaders.size(); ++i) {
    if ((*samples)[i].empty()) continue;
    row(leaders[i]).timing = engine::timing_of((*samples)[i]);
    row(leaders[i]).confirmed = true;
  }
  best_ = winner();
}

// Kernels that ran before have failed beside each other: those that fail again, each by itself, are out. The
// race's figures stand for the others.
void Search::run_alone(const std::vector<std::size_t>& leaders) {
  for (const std::size_t leader : leaders) {
    if (cancelled() || !measurer_.alive()) break;
    if (const auto seconds = measurer_.run(leader, 1, 1e-3); !seconds) fail(leader, seconds.error());
  }
  best_ = winner();
}

// Verified; confirmed before only raced, whose few samples flatter.
std::optional<std::size_t> Search::winner() const {
  std::optional<std::size_t> best;
  for (const auto& [candidate, r] : rows_) {
    if (!running(r) || !r.verified) continue;
    if (best) {
      const Row& b = rows_.at(*best);
      if (r.confirmed != b.confirmed ? b.confirmed : r.timing.median_s >= b.timing.median_s) continue;
    }
    best = candidate;
  }
  return best;
}

// The winner is compared at the user's own sizes too. One that is wrong there, or ends in a failure of the
// GPU, gives way to the next; one of which nothing can be said stays, with the reason.
void Search::prove() {
  while (const std::optional<std::size_t> next = winner()) {
    best_ = next;
    if (cancelled() || !measurer_.alive()) return;
    const Result<engine::Verdict> verdict = measurer_.verify_at_shape(*next);
    Row& r = row(*next);
    if (!verdict && verdict.error().kind == ErrorKind::Device) {
      best_.reset();
      fail(*next, verdict.error());
      continue;
    }
    if (!verdict) {
      r.at_shape = "not compared at the full shape: " + verdict.error().message;
      return;
    }
    if (verdict->passed) {
      r.at_shape = verdict->summary;
      return;
    }
    r.verdict = *verdict;
    best_.reset();
    fail(*next, TrialStatus::Wrong, verdict->summary);
  }
  best_.reset();
}

SearchResult Search::finish() {
  SearchResult result;
  std::optional<std::size_t> best = winner();
  result.measured = best.has_value();
  if (!measurer_.can_run())  // ranked: the first that compiled clean
    for (const auto& [candidate, r] : rows_)
      if (!best && r.status == TrialStatus::Ok && !r.cubin_key.empty()) best = candidate;
  best_ = result.measured ? best : std::nullopt;
  std::vector<std::size_t> order;
  for (auto& [candidate, r] : rows_) {
    // Handed out, but never came back from the compiler.
    if (r.status == TrialStatus::Ok && r.cubin_key.empty() && r.timing.samples == 0) continue;
    order.push_back(candidate);
    if (r.status == TrialStatus::Ok) settle(candidate);
  }
  auto place = [&](std::size_t candidate) {
    const Row& r = row(candidate);
    const bool first = best == candidate;
    const int group = first                         ? 0
                      : running(r)                  ? 1
                      : r.timing.samples > 0        ? 2
                      : r.status == TrialStatus::Ok ? 3
                                                    : 4;
    return std::tuple(group, group == 1 || group == 2 ? r.timing.median_s : 0.0, candidate);
  };
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  for (const std::size_t candidate : order) {
    if (is_incumbent(candidate)) result.incumbent = result.rows.size();
    result.rows.push_back(row(candidate));
  }
  if (best) result.best = 0;
  result.end = end_;
  result.diagnosis = diagnosis_;
  if (!best) result.incomparable = incomparable_;
  result.tried = tried_;
  result.total = candidates_.size() + twins_.size();
  result.seconds = elapsed();
  report(Phase::Done);
  return result;
}

}  // namespace rondo::tuner
