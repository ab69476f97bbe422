#include "compiler/schedule/persistent/strategy.h"

#include "compiler/schedule/analysis/step_stages.h"
#include "compiler/schedule/backward/dense_backward.h"
#include "compiler/schedule/lower/exchange_clear.h"
#include "compiler/schedule/persistent/exchange.h"
#include "compiler/schedule/persistent/reductions.h"
#include "compiler/schedule/persistent/step_products.h"
#include "compiler/schedule/sweep/backward_split.h"
#include "compiler/step/simplify.h"

namespace rondo::schedule {

namespace {

constexpr RenamedParameter kRenamed[] = {
    {"grid", "exchange"},
    {"share", "cluster_k_split"},
    {"lend", "setmaxnreg"},
    {"resident", "register_k_tiles"},
    {"splits", "split_k"},
    {"chains", "accumulators"},
    {"loaders", "producer_warps"},
    {"writers", "store_warps"},
    {"together", "batch_tiles_in_flight"},
};

}  // namespace

Legality Persistent::serves(const target::Profile& profile) const {
  return needs_compute_8(profile, "matrix products of 16 x 8 x 16 on the tensor cores");
}

Legality Persistent::legal(const Task& task) const { return dense_legal(task.cell); }

std::span<const RenamedParameter> Persistent::renamed_parameters() const { return kRenamed; }

Parameters Persistent::added_parameters() const {
  return {{"reduce_scatter", 0}, {"cluster_k_split", 1}, {"setmaxnreg", 0}, {"poll_delay", 0}};
}

int Persistent::alignment(const Problem& problem, const Parameters& parameters) const {
  return static_cast<int>(parameters.at("vector")) * kernel::storage_bytes(problem.storage);
}

std::int64_t Persistent::turn(const Parameters& parameters) const {
  const std::int64_t staged = parameters.at("steps") * parameters.at("stages");
  const bool global = parameters.at("exchange") == static_cast<std::int64_t>(Exchange::Global);
  return global ? std::max<std::int64_t>(staged, GridRing::kMostSlots) : staged;
}

KernelPlan Persistent::build_kernels(const Task& task, const Parameters& parameters) const {
  KernelPlan plan;
  plan.strategy = name();
  plan.parameters = parameters;
  plan.alignment = alignment(task.problem, parameters);
  const PersistentGeometry geometry(task.problem.sizes.dim, task.problem.storage,
                                    PersistentParameters::from(parameters));
  if (geometry.in_grid()) {
    const step::StepGraph sweep = spread_sweep(task).step;
    const std::vector<ProductGroup> groups = product_groups(sweep.graph, sweep.roots);
    const StepOrder order = step_order(task, sweep, groups, adds_over_head(task.cell));
    plan.exchange.each = task.problem.sizes.heads *
                         exchange_words(geometry, groups, product_sums(sweep.graph, sweep.roots, groups),
                                        ReductionExchange::slot_words(geometry, reduction_words(order)));
    plan.exchange.batch_tile = geometry.batch;
    plan.launches.push_back(clear_exchange(task, plan));
  }
  if (task.problem.pass == Pass::Backward)
    persistent_backward(task, parameters, plan);
  else
    plan.launches.push_back(persistent_forward(task, parameters));
  return plan;
}

const Strategy& persistent_strategy() {
  static const Persistent strategy;
  return strategy;
}

}  // namespace rondo::schedule
