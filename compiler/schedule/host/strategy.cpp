#include "compiler/schedule/host/strategy.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/analysis/step_stages.h"
#include "compiler/schedule/backward/dense_backward.h"
#include "compiler/schedule/channelwise/legal.h"
#include "compiler/schedule/host/diagonal.h"
#include "compiler/schedule/host/products_beside.h"
#include "compiler/schedule/host/step_product.h"
#include "compiler/schedule/host/tiles.h"
#include "compiler/schedule/host/time_launches.h"
#include "compiler/schedule/host/whole_head.h"
#include "compiler/schedule/lower/param_gradient_sum.h"
#include "compiler/target/target.h"

namespace rondo::schedule {

Legality Host::serves(const target::Profile& profile) const {
  if (profile.is_cpu()) return {};
  return {false, "it is for CPUs"};
}

Legality Host::legal(const Task& task) const {
  if (!task.profile.is_cpu()) return {false, "it is for CPUs"};
  if (task.structure.has_matrix) return dense_legal(task.cell);
  const bool saves = passes_products(task.problem);
  return adds_over_head(task.cell) && !saves ? Legality{} : channels_alone(task, HeadValues::None);
}

namespace {

void add_without_matrix(const Task& task, const HostParameters& own, KernelPlan& plan) {
  const auto walk = [&](const Sweep& sweep) {
    if (!adds_over_head(task.cell)) return host_diagonal(task, sweep, own, plan);
    plan.launches.push_back(host_whole_head(task, sweep, own));
  };
  if (task.problem.pass != Pass::Backward) return walk(forward_sweep(task));
  walk(backward_sweep(task, backward_split(task)));
  for (Launch& launch : sum_param_gradients(task, own.segments)) plan.launches.push_back(std::move(launch));
  plan.workspace_elements_per_batch =
      own.segments * param_rows(task.cell) * task.problem.sizes.heads * task.problem.sizes.dim;
}

// Before the steps the matrices are packed, one launch a group of products.
void add_sweep(const Task& task, const HostParameters& own, Sweep sweep, KernelPlan& plan) {
  StepStages stages = step_stages(task.cell, sweep.step.graph, sweep.step.roots);
  StepwiseSweep all{task, "host", host_tile(task.problem, own), std::move(sweep), std::move(stages), {}};
  std::vector<HostPacked> packed;
  std::int64_t first = 0;
  for (const ProductGroup& group : all.stages.groups) {
    const bool has_matrices = group.kind != ProductKind::Scatter;
    packed.emplace_back(task.problem, own, has_matrices ? static_cast<int>(group.products.size()) : 0,
                        host_tiles(own, task.problem.storage), first);
    if (!has_matrices) continue;
    first += packed.back().elements();
    plan.launches.push_back(host_pack(
        task, own, packed.back(), group.products,
        fmt::format("{}_host_{}_pack_{}", task.cell.name, pass_name(task.problem.pass), packed.size() - 1)));
  }
  plan.packed.fixed = std::max(plan.packed.fixed, first);
  all.product = [&](kernel::Builder& b, const std::vector<std::size_t>& groups) {
    return std::make_unique<HostStepProduct>(b, all, own, packed, groups);
  };
  plan.launches.push_back(stepwise_first(all));
  for (Launch& launch : stepwise_steps(all)) plan.launches.push_back(std::move(launch));
  add_extents(all, plan);
}

void add_dense(const Task& task, const HostParameters& own, KernelPlan& plan) {
  if (task.problem.pass != Pass::Backward) return add_sweep(task, own, forward_sweep(task), plan);
  const BackwardSplit split = backward_split(task);
  const std::vector<int> scratch = scratch_rows(split);
  for (const ProductGroup& group : split.forward)
    plan.packed.fixed = std::max(
        plan.packed.fixed, host_time_packed(task.problem, own, static_cast<int>(group.products.size())));
  dense_backward(
      task, split, host_time_launches(task, own, scratch),
      [&] { add_sweep(task, own, backward_sweep(task, split), plan); }, plan);
}

}  // namespace

std::shared_ptr<ProductsBeside> Host::products_beside(const BesideWhat& what,
                                                      const Parameters& parameters) const {
  return host_products_beside(what, read_parameters<HostParameters>(parameters));
}

void Host::add_launches(const Task& task, const HostParameters& own, KernelPlan& plan) const {
  if (task.structure.has_matrix)
    add_dense(task, own, plan);
  else
    add_without_matrix(task, own, plan);
}

}  // namespace rondo::schedule
