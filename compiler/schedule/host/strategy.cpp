#include "compiler/schedule/host/strategy.h"

#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/channelwise/legal.h"
#include "compiler/schedule/gemm/dense_backward.h"
#include "compiler/schedule/host/diagonal.h"
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
  return channels_alone(cell, problem);
}

int Host::alignment(const Problem& problem, const Parameters&) const {
  return kernel::storage_bytes(problem.storage);
}

KernelPlan Host::build_kernels(const step::Cell& cell, const Problem& problem, const Parameters& parameters,
                               const target::Profile&) const {
  const step::Cell simple = step::simplify(cell);
  const auto own = HostParameters::from(parameters);
  KernelPlan plan;
  plan.strategy = name();
  plan.parameters = parameters;
  plan.alignment = alignment(problem, parameters);
  if (problem.pass != Pass::Backward) {
    plan.launches.push_back(host_diagonal(simple, problem, forward_sweep(simple, problem), own));
    return plan;
  }
  const BackwardSplit split = backward_split(simple, problem);
  plan.launches.push_back(host_diagonal(simple, problem, backward_sweep(simple, split), own));
  for (Launch& launch : sum_param_gradients(simple, problem)) plan.launches.push_back(std::move(launch));
  plan.workspace_elements_per_batch = param_rows(simple) * problem.sizes.heads * problem.sizes.dim;
  return plan;
}

const Strategy& host_strategy() {
  static const Host strategy;
  return strategy;
}

}  // namespace rondo::schedule
