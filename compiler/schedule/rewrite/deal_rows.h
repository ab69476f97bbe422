// A step whose rows are dealt to several lanes of a warp. The frontend unrolls `state S[64, D]` into 64
// vectors, and one thread cannot keep that many. What a step does alike to all rows of a channel, each of
// `lanes` threads does to its own part of them; a sum over rows is then that of a thread's own and, by
// NodeKind::SumRows, of the lanes. All else is the same in all lanes.
//
// The graph of a lane is found from the unrolled one: nodes of different rows that do the like become one
// node. A step that mixes rows in any other way than by sums cannot be dealt.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

// Fewer rows than these stay with one thread.
inline constexpr int kLeastRowsDealt = 8;

// The outermost extent of the state with the largest one: rows that may be dealt. 1 where no state has any.
int outer_rows(const step::Cell& cell);

// A pass as a lane has it.
struct DealtPass {
  // Its cell's tensors have a lane's rows, neighbouring ones, where they are dealt: those whose outermost
  // extent is outer_rows(). Next states and outputs, too, are a lane's.
  Task task;
  std::vector<bool> dealt;  // by tensor
  step::StepGraph step;     // what the pass computes, as forward_step() and roots_of() have it
  BackwardNeeds needs;      // of Pass::Backward: rows are a lane's
};

// Nothing where the step cannot be dealt to so many lanes; to one it always can, and is as it was. A fact of
// the task, which is of a simplified cell.
std::shared_ptr<const std::optional<DealtPass>> dealt_pass(const Task& task, int lanes);

}  // namespace rondo::schedule
