// alternating: products and elementwise part step by step, in one launch for each level of products of each
// step, with the matrices read anew each time (docs/strategies/alternating.md). No limit on the size of a
// head. For cells whose step multiplies by matrices; 16-bit storage on the tensor cores, fp32 by
// multiply-adds.
#pragma once

#include "compiler/schedule/alternating/geometry.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

class Alternating final : public StrategyOf<AlternatingParameters> {
 public:
  Legality serves(const target::Profile& profile) const override;
  Legality legal(const Task& task) const override;
  constraint::System space(const Task& task) const override;
  CostModel cost_model(const Task& task) const override;

 protected:
  void add_launches(const Task& task, const AlternatingParameters& parameters,
                    KernelPlan& plan) const override;
};

}  // namespace rondo::schedule
