// A pass of a cell with matrices as a walk over time: where the leaves of its step are found and where its
// results go. One description for both directions.
#pragma once

#include <map>
#include <vector>

#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/sweep/backward_split.h"

namespace rondo::schedule {

enum class TimeOrder { Forward, Backward };

struct SweepSource {
  // Flag: of the sequence (step/forms.h), the tensor `row` has.
  enum class Kind { Carry, Now, Before, Flag } kind = Kind::Now;
  int carry = 0;  // Carry: which
  RowRef row;     // Now: of step t; Before: of step t - 1
  RowRef first;   // Before: and at t = 0 this row of an initial state
};

struct SweepSink {
  enum class Kind { Carry, Now, Sum } kind = Kind::Now;
  int index = 0;  // Carry: which; Sum: row of the workspace [B, H, rows, D]
  RowRef row;     // Now: of step t
};

struct Sweep {
  TimeOrder order = TimeOrder::Forward;
  step::StepGraph step;
  std::map<step::NodeId, SweepSource> sources;  // of every leaf that is no parameter
  std::vector<std::vector<SweepSink>> sinks;    // by root
  std::vector<RowRef> first, last;              // where carry k begins and ends, fp32
  int sum_rows = 0;                             // rows of the workspace
  std::vector<int> scratch_rows;
};

Sweep forward_sweep(const Task& task);
// The second is that of a block that walks over a whole head: all its reductions are in the step.
Sweep backward_sweep(const Task& task, const BackwardSplit& split, const SpreadSweep& spread);
Sweep backward_sweep(const Task& task, const BackwardSplit& split);

}  // namespace rondo::schedule
