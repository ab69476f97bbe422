// host: kernels for CPUs (docs/strategies/host.md). A block is a piece of work of one CPU thread, its threads
// are the lanes of vectors. Channels lie in the lanes and time passes in order; cells with matrices have one
// launch for each level of products of each step.
#pragma once

#include "compiler/schedule/host/parameters.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

class Host final : public StrategyOf<HostParameters> {
 public:
  Legality serves(const target::Profile& profile) const override;
  Legality legal(const Task& task) const override;
  constraint::System space(const Task& task) const override;
  CostModel cost_model(const Task& task) const override;
  std::shared_ptr<ProductsBeside> products_beside(const BesideWhat& what,
                                                  const Parameters& parameters) const override;

 protected:
  void add_launches(const Task& task, const HostParameters& parameters, KernelPlan& plan) const override;
};

}  // namespace rondo::schedule
