// stream: one thread walks its channels through all of time, inputs staged far ahead
// (docs/strategies/stream.md). Legal for cells whose channels do not see each other. Nothing is read twice,
// so with enough channels it runs at copy speed.
#pragma once

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/stream/parameters.h"

namespace rondo::schedule {

class Stream final : public StrategyOf<StreamParameters> {
 public:
  Legality serves(const target::Profile& profile) const override;
  Legality legal(const Task& task) const override;
  constraint::System space(const Task& task) const override;
  CostModel cost_model(const Task& task) const override;
  // Of the problems of three cells in h200-model.json.
  double model_error() const override { return 1.1; }
  std::int64_t turn(const Parameters& parameters) const override;

 protected:
  void add_launches(const Task& task, const StreamParameters& parameters, KernelPlan& plan) const override;
};

// The number of values that a segment computes for each step before the carries are known, and keeps in
// registers until then if it does not compute the step again (segment_step.h). 0 if the pass is not affine in
// what it carries, so that time cannot be cut. Affine cells are affine forward, and every cell backward
// unless its gradients are clipped (linear_step.h).
int segment_parts(const Task& task);

// Parts of build_kernels(), one file each.
Launch stream_forward(const Task& task, const StreamParameters& parameters);
// The sweep; writes parameter gradients of each batch row to the workspace [B, time_split, H, P, D], P rows
// as counted by `param_rows`.
Launch stream_backward(const Task& task, const StreamParameters& parameters);

}  // namespace rondo::schedule
