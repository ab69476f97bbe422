#include "compiler/schedule/alternating/strategy.h"

#include "compiler/schedule/alternating/kernels.h"
#include "compiler/schedule/alternating/product.h"
#include "compiler/schedule/backward/dense_backward.h"
#include "compiler/schedule/backward/time_head_values.h"

namespace rondo::schedule {

Legality Alternating::serves(const target::Profile& profile) const {
  return needs_turing(profile, "matrix products of 16 x 8 on the tensor cores");
}

Legality Alternating::legal(const Task& task) const { return dense_legal(task.cell); }

void Alternating::add_launches(const Task& task, const AlternatingParameters& own, KernelPlan& plan) const {
  const auto add_sweep = [&](Sweep sweep) {
    StepStages stages = step_stages(task.cell, sweep.step.graph, sweep.step.roots);
    const AlternatingGeometry geometry(task.problem, own);
    AlternatingSweep all{{task, name(), geometry.tile(), std::move(sweep), std::move(stages), {}}, geometry};
    all.product = [&](kernel::Builder& b, const std::vector<std::size_t>& groups) {
      return std::make_unique<AlternatingProduct>(b, task.problem, all, groups);
    };
    for (Launch& launch : alternating_pack(all)) plan.launches.push_back(std::move(launch));
    plan.launches.push_back(stepwise_first(all));
    for (Launch& launch : stepwise_steps(all)) plan.launches.push_back(std::move(launch));
    const std::vector<std::size_t> same = with_same_matrices(all.stages.groups);
    for (std::size_t group = 0; group < same.size(); ++group)
      if (same[group] == group)
        plan.packed.fixed += geometry.packed_elements(task.problem, all.stages.groups[group]);
    add_extents(all, plan);
  };
  if (task.problem.pass != Pass::Backward) {
    add_sweep(forward_sweep(task));
    return;
  }
  const BackwardSplit split = backward_split(task);
  const SpreadSweep spread = spread_sweep(task, split, Steps::OfLaunches);
  dense_backward(
      task, split, own.vector,
      [&] {
        if (!spread.head_values.empty()) plan.launches.push_back(time_head_values(task, split, spread));
        add_sweep(backward_sweep(task, split, spread));
      },
      plan);
  plan.scratch_rows = scratch_rows(split, spread);
}

}  // namespace rondo::schedule
