// Trials without a GPU: what a plan does stands where its code would be.
#pragma once

#include <chrono>

#include "tuner/trial/trials.h"

namespace rondo::tuner::testing {

// The bytes of a plan's image are one of
//   "good"   each sample is the number of the process
//   "known"  each sample is how many plans were loaded by this process so far
//   "hang", "segfault", "exit"   the process does so
//   "error"  an error of kind Device; the process goes on
//   "wrong"  verify() says so, except on data of kRightSeed
//   "lost"   an error after which nothing more can run in this process
//   "slow reference"   verify() takes kSlowReference before it runs anything
inline constexpr std::uint64_t kRightSeed = 99;
inline constexpr std::chrono::milliseconds kSlowReference{1500};
// A set-up whose seed is 13 fails, and one with 14 ends the process.
Result<std::unique_ptr<Trials>> fake_trials(const TrialSetup& setup);

}  // namespace rondo::tuner::testing
