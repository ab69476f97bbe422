// What a step reduces over the head, in the order in which it can: a walk whose block holds the whole head
// makes all reductions of a level in one exchange between its threads.
#pragma once

#include <vector>

#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/stream/parameters.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

// Whether a block must hold the whole head: the step reduces over it or goes along its channels, or a state
// or an output has one value a head, so that gradients sum over it.
bool needs_whole_head(const step::Cell& cell);
// Whether that is so at a point: segments of time are for channels that have their own copies of all values
// of the head.
inline bool holds_whole_head(const step::Cell& cell, const StreamParameters& p) {
  return p.segments == 1 && p.row_lanes == 1 && needs_whole_head(cell);
}

struct HeadReduction {
  // Moments: the sum of one or several vectors, and their spread (NodeKind::ReduceSpread). Both come out of
  // one exchange, and the squares are of distances, so that nothing cancels (Chan, Golub, LeVeque 1983,
  // "Algorithms for computing the sample variance").
  // Prefix, Suffix and Move (NodeKind::PrefixSum, SuffixSum; Shift, Rotate) give each channel a value of its
  // own; so does Rows, a sum over the lanes of the channel (NodeKind::SumRows).
  enum class Kind { Sum, Max, Moments, Prefix, Suffix, Move, Rows };
  bool along() const { return kind >= Kind::Prefix; }
  Kind kind = Kind::Sum;
  std::vector<step::NodeId> operands;    // one value a channel each; several only of moments
  step::NodeId total = step::kNoNode;    // what stands for the result
  step::NodeId squares = step::kNoNode;  // Moments: what stands for the second one
  int level = 0;                         // reductions that come before it on the longest way
  step::Node node = {};                  // Move: the shift or rotation
};

struct HeadReductions {
  // The results stand in the graph as products without operands, so that GraphLowering asks for their values.
  // After the roots of the step come the operands of `reductions`, in their order.
  step::StepGraph step;
  std::size_t roots = 0;  // how many roots the step has
  std::vector<HeadReduction> reductions;
  int levels = 0;

  // `row` of what stands for a result: 0 for the total of a reduction, 1 for its squares.
  static constexpr int place(int reduction, int which) { return 2 * reduction + which; }
  // Numbers of the reductions of a level.
  std::vector<std::size_t> of_level(int level) const;
};

// `step` is that of the pass, with its last roots, backward, the gradients of vector and scalar parameters.
// It is rewritten by fewer_exchanges(), gradients of scalar parameters as shares of the channels.
HeadReductions head_reductions(const Task& task, const step::StepGraph& step);
// The sums over rows of a step that is dealt (deal_rows.h).
HeadReductions row_sums(const step::StepGraph& step);

}  // namespace rondo::schedule
