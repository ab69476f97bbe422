// Internal to the search: its state, and its parts.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/search/picker.h"
#include "tuner/search/search.h"

namespace rondo::tuner {

class Search {
 public:
  Search(const std::vector<engine::Candidate>& candidates, Measurer& measurer, const SearchOptions& options,
         const Clock& clock);
  SearchResult run();

 private:
  void explore();
  void begin_with(std::size_t candidate);
  void submit(std::size_t candidate);
  void submit_more();
  void take_compiled();
  void try_twins();
  bool should_stop();
  std::optional<SearchEnd> reason_to_stop() const;
  bool out_of_time() const;
  bool found() const;
  bool waits_for_first() const;
  bool enough_tries() const;
  void settle_compiled(const Compiled& compiled);
  void race(std::size_t candidate);
  void set_best(std::size_t candidate);
  bool verify(std::size_t candidate);
  void spare(std::size_t candidate);
  void try_other_strategies();
  void diagnose();
  std::vector<std::string> untried_strategies() const;
  void confirm();
  void run_alone(const std::vector<std::size_t>& leaders);
  std::vector<std::size_t> choose_leaders();
  void prove();
  SearchResult finish();
  std::optional<std::size_t> winner() const;

  // Of the candidate itself, or of its twin.
  const engine::Candidate& candidate_of(std::size_t index) const {
    const auto of = twins_.find(index);
    return candidates_[of == twins_.end() ? index : of->second];
  }
  Row& row(std::size_t candidate) { return rows_.at(candidate); }
  void fail(std::size_t candidate, db::TrialStatus status, const std::string& reason);
  void fail(std::size_t candidate, const Error& error);  // of a trial
  void settle(std::size_t candidate);
  void report(Phase phase);
  double budget() const;  // of the search, in seconds: the rest is kept for the leaders
  double elapsed() const { return clock_() - start_; }
  bool is_incumbent(std::size_t candidate) const { return options_.incumbent == candidate; }
  bool cancelled() const { return options_.cancel != nullptr && options_.cancel->load(); }
  double best_seconds() const;

  const std::vector<engine::Candidate>& candidates_;
  Measurer& measurer_;
  const SearchOptions& options_;
  const Clock& clock_;
  double start_ = 0;
  Picker picker_;
  std::map<std::size_t, Row> rows_;                     // by candidate
  std::map<std::size_t, std::size_t> twins_;            // those that were tried, and whose
  std::unordered_map<std::string, std::size_t> codes_;  // code -> the candidate that had it first
  std::optional<std::size_t> best_;                     // verified; by its race so far
  std::optional<std::size_t>
      spared_;  // while nothing is right: the wrong one nearest to its limit, not dropped
  std::optional<Diagnosis> diagnosis_;
  std::optional<Error> incomparable_;  // of the first candidate of which nothing can be said
  int untold_ = 0;                     // how many they are
  std::size_t in_flight_ = 0;
  std::size_t tried_ = 0;
  std::size_t clean_ = 0;       // compiled without fault
  std::size_t first_ = 0;       // the model's first choice: what a user without a tune gets
  bool first_settled_ = false;  // it came from the compiler
  double waited_ = 0;           // seconds beyond the budget, for the compiler to come with it
  std::size_t tried_at_gain_ = 0;
  SearchEnd end_ = SearchEnd::Exhausted;
};

}  // namespace rondo::tuner
