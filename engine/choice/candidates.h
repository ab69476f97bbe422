// All ways to compute a problem: every strategy that is legal, every point of its space, priced by its cost
// model.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/support/result.h"

namespace rondo::engine {

struct Candidate {
  std::string strategy;
  schedule::Parameters parameters;
  schedule::Estimate estimate;  // by the model, for the problem's B and T
};

// Largest alignment that any kernel asks for, and the one that every CUDA allocation has: no restriction.
inline constexpr int kFullAlignment = 16;

// Candidates that content themselves with tensors aligned to `alignment` bytes, the fastest by the model
// first; equal ones in a fixed order. Errors: Unsupported when no strategy is legal (why, for each), or when
// no point of any space is left (what is short, with numbers). With `strategy`, of that one only; Input if
// there is none of this name or it is not legal.
Result<std::vector<Candidate>> ranked_candidates(const schedule::Task& task, int alignment = kFullAlignment,
                                                 const std::string& strategy = "");

// The first of them that is not may_spill (schedule::Estimate), if there is one, without making the list: a
// space may have some 100,000 points. `threads` look at parts of a space side by side, 0: one for each core.
Result<Candidate> best_candidate(const schedule::Task& task, int alignment = kFullAlignment, int threads = 0);
// The same of those that `granted` takes; nullopt if it takes none.
Result<std::optional<Candidate>> best_candidate(const schedule::Task& task, int alignment,
                                                const std::string& strategy,
                                                const std::function<bool(const Candidate&)>& granted);

// Which points ranked_candidates() would list; makes the space of a strategy once. Refers to the task.
class CandidateCheck {
 public:
  explicit CandidateCheck(const schedule::Task& task) : task_(task) {}
  // Errors: those of check_candidate().
  Status operator()(const std::string& strategy, const schedule::Parameters& parameters,
                    int alignment = kFullAlignment);

 private:
  const schedule::Task& task_;
  std::map<std::string, constraint::System> spaces_;  // by strategy
};

// Would ranked_candidates() list it? Errors: Input naming what is unknown, illegal or out of range.
Status check_candidate(const schedule::Task& task, const std::string& strategy,
                       const schedule::Parameters& parameters, int alignment = kFullAlignment);

}  // namespace rondo::engine
