// Which candidate to try next. The model's order is a good start and never the last word: the picker also
// walks to the neighbours of what measured best, and sees to it that every value of every parameter gets its
// chance.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/choice/candidates.h"

namespace rondo::tuner {

// What a user without a tune gets: the first that is not may_spill, or else the first.
std::size_t first_choice(const std::vector<engine::Candidate>& candidates);

class Picker {
 public:
  // `candidates` as ranked_candidates() gives them; kept by reference.
  explicit Picker(const std::vector<engine::Candidate>& candidates);

  // The next index, each once; nothing when all are out.
  std::optional<std::size_t> next();
  // Gives out one of the caller's choosing; it must not be out yet.
  void claim(std::size_t candidate) { take(candidate); }
  // What became of one: its time. Unmeasured ones (failures) are not reported.
  void measured(std::size_t candidate, double seconds);

  std::size_t given() const { return given_; }
  // All direct neighbours of the best so far are out: walking further from it needs two steps at once.
  bool local_optimum() const;

 private:
  using Axis = std::pair<std::string, std::string>;  // strategy, parameter

  void choose_first();
  std::optional<std::size_t> by_rank();
  std::optional<std::size_t> by_coverage();
  std::optional<std::size_t> by_neighbour();
  struct Neighbours {  // ascending: the model's order
    std::vector<std::size_t> one_step, two_steps;
  };
  const Neighbours& neighbours(std::size_t centre) const;
  std::optional<std::size_t> untried(const std::vector<std::size_t>& points) const;
  bool step(engine::Candidate& candidate, const std::string& parameter, int by) const;
  void add_if_known(const engine::Candidate& candidate, std::vector<std::size_t>& to) const;
  std::size_t take(std::size_t candidate);

  const std::vector<engine::Candidate>& candidates_;
  std::vector<bool> tried_;
  std::map<std::pair<std::string, schedule::Parameters>, std::size_t> index_;
  std::map<Axis, std::vector<std::int64_t>> values_;      // ascending
  std::vector<std::size_t> cover_;                        // the best-ranked candidate of every (axis, value)
  std::map<double, std::size_t> best_;                    // the few fastest
  mutable std::map<std::size_t, Neighbours> neighbours_;  // of candidates that were among the fastest
  std::vector<std::size_t> first_;                        // given out before all others
  std::size_t next_first_ = 0;
  std::size_t next_rank_ = 0;
  std::size_t next_cover_ = 0;
  std::size_t given_ = 0;
  std::size_t turn_ = 0;
};

}  // namespace rondo::tuner
