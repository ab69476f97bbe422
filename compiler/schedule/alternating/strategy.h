// alternating: products and elementwise part step by step, in one launch for each level of products of each
// step, with the matrices read anew each time (docs/strategies/alternating.md). No limit on the size of a
// head. For cells whose step multiplies by matrices; 16-bit storage on the tensor cores, fp32 by
// multiply-adds.
#pragma once

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

class Alternating final : public Strategy {
 public:
  std::string name() const override { return "alternating"; }
  Legality serves(const target::Profile& profile) const override;
  Legality legal(const Task& task) const override;
  std::span<const ParameterRow> parameters() const override;
  constraint::System space(const Task& task) const override;
  CostModel cost_model(const Task& task) const override;
  int alignment(const Problem& problem, const Parameters& parameters) const override;
  KernelPlan build_kernels(const Task& task, const Parameters& parameters) const override;
};
const Strategy& alternating_strategy();

}  // namespace rondo::schedule
