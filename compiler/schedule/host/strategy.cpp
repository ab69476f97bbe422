#include "compiler/schedule/host/strategy.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/analysis/step_stages.h"
#include "compiler/schedule/backward/dense_backward.h"
#include "compiler/schedule/channelwise/legal.h"
#include "compiler/schedule/host/diagonal.h"
#include "compiler/schedule/host/step_product.h"
#include "compiler/schedule/host/time_launches.h"
#include "compiler/schedule/host/whole_head.h"
#include "compiler/schedule/lower/param_gradient_sum.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/target/target.h"

namespace rondo::schedule {

Legality Host::serves(const target::Profile& profile) const {
  if (target::Target{target::compute_capability(profile.arch())}.is_cpu()) return {};
  return {false, "it is for CPUs"};
}

Legality Host::legal(const step::Cell& cell, const Problem& problem) const {
  if (!target::Target{target::compute_capability(problem.arch)}.is_cpu()) return {false, "it is for CPUs"};
  if (step::analyze(cell).has_matrix) return dense_legal(cell);
  const bool saves = passes_products(problem);
  return adds_over_head(cell) && !saves ? Legality{} : channels_alone(cell, problem);
}

int Host::alignment(const Problem& problem, const Parameters&) const {
  return kernel::storage_bytes(problem.storage);
}

// Earlier versions walked time as one, asked for nothing ahead, and wrote through the caches.
Parameters Host::added_parameters() const { return {{"segments", 1}, {"ahead", 0}, {"stream_stores", 0}}; }

namespace {

void add_without_matrix(const step::Cell& cell, const Problem& problem, const HostParameters& own,
                        KernelPlan& plan) {
  const auto walk = [&](const Sweep& sweep) {
    if (!adds_over_head(cell)) return host_diagonal(cell, problem, sweep, own, plan);
    plan.launches.push_back(host_whole_head(cell, problem, sweep, own));
  };
  if (problem.pass != Pass::Backward) return walk(forward_sweep(cell, problem));
  walk(backward_sweep(cell, backward_split(cell, problem)));
  for (Launch& launch : sum_param_gradients(cell, problem, own.segments))
    plan.launches.push_back(std::move(launch));
  plan.workspace_elements_per_batch =
      own.segments * param_rows(cell) * problem.sizes.heads * problem.sizes.dim;
}

// Before the steps the matrices are packed, one launch a group of products.
void add_sweep(const step::Cell& cell, const Problem& problem, const HostParameters& own, Sweep sweep,
               KernelPlan& plan) {
  StepStages stages = step_stages(cell, sweep.step.graph, sweep.step.roots);
  StepwiseSweep all{cell, problem, "host", host_tile(problem, own), std::move(sweep), std::move(stages), {}};
  std::vector<HostPacked> packed;
  std::int64_t first = 0;
  for (const ProductGroup& group : all.stages.groups) {
    packed.emplace_back(problem, own, static_cast<int>(group.products.size()), first);
    first += packed.back().elements();
    plan.launches.push_back(
        host_pack(cell, problem, own, packed.back(), group.products,
                  fmt::format("{}_host_{}_pack_{}", cell.name, pass_name(problem.pass), packed.size() - 1)));
  }
  plan.packed.fixed = std::max(plan.packed.fixed, first);
  all.product = [&](kernel::Builder& b, const std::vector<std::size_t>& groups) {
    return std::make_unique<HostStepProduct>(b, problem, own, packed, groups);
  };
  plan.launches.push_back(stepwise_first(all));
  for (Launch& launch : stepwise_steps(all)) plan.launches.push_back(std::move(launch));
  add_extents(all, plan);
}

void add_dense(const step::Cell& cell, const Problem& problem, const HostParameters& own, KernelPlan& plan) {
  if (problem.pass != Pass::Backward)
    return add_sweep(cell, problem, own, forward_sweep(cell, problem), plan);
  const BackwardSplit split = backward_split(cell, problem);
  const std::vector<int> scratch = scratch_rows(split);
  for (const ProductGroup& group : split.forward)
    plan.packed.fixed =
        std::max(plan.packed.fixed, host_time_packed(problem, own, static_cast<int>(group.products.size())));
  dense_backward(
      cell, problem, split, host_time_launches(cell, problem, own, scratch),
      [&] { add_sweep(cell, problem, own, backward_sweep(cell, split), plan); }, plan);
}

}  // namespace

KernelPlan Host::build_kernels(const step::Cell& cell, const Problem& problem, const Parameters& parameters,
                               const target::Profile&) const {
  const step::Cell simple = step::simplify(cell);
  const auto own = HostParameters::from(parameters);
  KernelPlan plan;
  plan.strategy = name();
  plan.parameters = parameters;
  plan.alignment = alignment(problem, parameters);
  if (step::analyze(simple).has_matrix)
    add_dense(simple, problem, own, plan);
  else
    add_without_matrix(simple, problem, own, plan);
  return plan;
}

const Strategy& host_strategy() {
  static const Host strategy;
  return strategy;
}

}  // namespace rondo::schedule
