// A sweep whose step is affine in what it carries (rewrite/linear_step.h), and the coefficients of that
// step: with them a segment of time is one transform of the states before it, and segments go side by side.
#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/rewrite/linear_step.h"
#include "compiler/schedule/sweep/sweep.h"

namespace rondo::schedule {

struct AffineSweep {
  Sweep sweep;                             // with the nodes of the coefficients in the graph of its step too
  std::vector<step::NodeId> coefficients;  // of that graph; none of them reads a carried value
  // By carry: its next value as a sum of coefficients times (carry + shift), and a constant; indices into
  // `coefficients`, -1 for none.
  std::vector<LinearForm> carries;
  std::vector<int> shifts;

  std::vector<step::NodeId> all_roots() const;  // those of the sweep, and the coefficients
};

// nullopt where a carry's next value is not affine. What else the step computes may be anything.
std::optional<AffineSweep> affine_sweep(const Task& task, const Sweep& sweep);

}  // namespace rondo::schedule
