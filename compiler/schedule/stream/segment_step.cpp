#include "compiler/schedule/stream/segment_step.h"

#include <utility>

#include "compiler/schedule/stream/resources.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

TransformPattern pattern_of(const LinearStep& linear, int states) {
  return TransformPattern::composed(
      states, [&](int row, int column) { return linear.roots[at(row)].coefficients[at(column)] >= 0; });
}

}  // namespace

std::optional<SegmentStep> segment_step(const Task& task, const step::StepGraph& step, bool keeps) {
  const auto states = static_cast<int>(task.cell.next.size());
  std::optional<LinearStep> linear = linear_step(task, step);
  if (!linear) return std::nullopt;
  const bool again = !keeps && !keeps_parts(task.cell, static_cast<int>(linear->carry_free.roots.size()));
  if (again) linear = linear_step(task, {step.graph, {step.roots.begin(), step.roots.begin() + states}});
  TransformPattern pattern = pattern_of(*linear, states);
  return SegmentStep{std::move(*linear), std::move(pattern), again};
}

std::shared_ptr<const std::optional<SegmentStep>> segments_of_step(const Task& task) {
  return task.fact<std::optional<SegmentStep>>("segments of " + pass_key(task.problem),
                                               [&] { return segment_step(task, stream_step(task)); });
}

}  // namespace rondo::schedule
