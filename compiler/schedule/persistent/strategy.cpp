#include "compiler/schedule/persistent/strategy.h"

#include <fmt/format.h>

#include "compiler/schedule/backward/dense_backward.h"
#include "compiler/schedule/lower/exchange_clear.h"
#include "compiler/schedule/persistent/exchange.h"
#include "compiler/schedule/persistent/reductions.h"
#include "compiler/schedule/persistent/step_products.h"
#include "compiler/schedule/sweep/backward_split.h"

namespace rondo::schedule {

Legality Persistent::serves(const target::Profile& profile) const {
  return needs_turing(profile, "matrix products of 16 x 8 on the tensor cores");
}

Legality Persistent::legal(const Task& task) const {
  if (const Legality dense = dense_legal(task.cell); !dense.legal) return dense;
  if (const Legality forward = max_plus_legal(task); !forward.legal) return forward;
  if (!task.profile.is_cpu() && !has_mma(task.profile.target, task.problem.storage))
    return {false,
            fmt::format("the tensor cores of {} multiply fp16 alone, not {}: alternating computes such "
                        "cells there",
                        task.profile.name, kernel::storage_name(task.problem.storage))};
  if (!task.structure.has_along) return {};
  return {
      false,
      "the step shifts or sums up along the channels, which lie spread over the warps of a team: alternating "
      "computes such cells"};
}

std::int64_t Persistent::turn(const Parameters& parameters) const {
  const auto p = read_parameters<PersistentParameters>(parameters);
  const std::int64_t staged = std::int64_t{p.steps} * p.stages;
  return p.exchange == Exchange::Global ? std::max<std::int64_t>(staged, GridRing::kMostSlots) : staged;
}

void Persistent::add_launches(const Task& task, const PersistentParameters& own, KernelPlan& plan) const {
  const PersistentGeometry geometry(task.problem.sizes.dim, task.problem.storage, own);
  if (geometry.in_grid()) {
    const step::StepGraph sweep = spread_sweep(task).step;
    const std::vector<ProductGroup> groups = product_groups(sweep.graph, sweep.roots);
    const StepOrder order = step_order(task, sweep, groups, adds_over_head(task.cell));
    plan.exchange.each =
        task.problem.sizes.heads *
        exchange_words(geometry, task, sweep, groups, product_sums(sweep.graph, sweep.roots, groups),
                       ReductionExchange::slot_words(geometry, reduction_words(order)));
    plan.exchange.batch_tile = geometry.batch;
    plan.launches.push_back(clear_exchange(task, plan));
  }
  if (task.problem.pass == Pass::Backward)
    persistent_backward(task, own, plan);
  else
    plan.launches.push_back(persistent_forward(task, own));
}

}  // namespace rondo::schedule
