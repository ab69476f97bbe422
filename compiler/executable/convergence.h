// How an iteration on the device ended: what a launch wrote into its tensor of Role::Report.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace rondo::executable {

// Of one run. Records are four fp32 numbers for each warp: the sweeps that it made, how many of these in
// order, the worst jump, and 0.
struct Convergence {
  static constexpr int kRecord = 4;
  static constexpr float kLost = 3e38F;  // the jump of a segment whose start is not finite
  std::int64_t sweeps = 0;               // of the warp that made most
  std::int64_t extra_sweeps = 0;         // beyond the first, summed over warps
  std::int64_t segments_in_order = 0;    // segments of a warp's channels that were finished step by step
  std::int64_t segments = 0;             // such segments in all
  // By how much a segment's start differs from where the one before it ended, by the linear estimate: the
  // worst over all segments and states, as a share of the state's size in the segment. Infinite where a start
  // is not finite.
  double worst_jump = 0;
};
Convergence convergence_of(std::span<const float> records);
// One line for people: "2 sweeps at most, 64 of 4096 segments swept again, 0 finished in order, ...".
std::string describe(const Convergence& convergence);

}  // namespace rondo::executable
