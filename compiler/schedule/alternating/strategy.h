// alternating: products and elementwise part step by step, in one launch for each level of products of each
// step, with the matrices read anew each time (docs/strategies/alternating.md). No limit on the size of a
// head. For cells whose step multiplies by matrices; 16-bit storage on the tensor cores, fp32 by
// multiply-adds.
#pragma once

#include "compiler/schedule/plan/strategy.h"

namespace rondo::schedule {

class Alternating final : public Strategy {
 public:
  std::string name() const override { return "alternating"; }
  Legality serves(const target::Profile& profile) const override;
  Legality legal(const step::Cell& cell, const Problem& problem) const override;
  constraint::System space(const step::Cell& cell, const Problem& problem,
                           const target::Profile& profile) const override;
  CostModel cost_model(const step::Cell& cell, const Problem& problem,
                       const target::Profile& profile) const override;
  int alignment(const Problem& problem, const Parameters& parameters) const override;
  KernelPlan build_kernels(const step::Cell& cell, const Problem& problem, const Parameters& parameters,
                           const target::Profile& profile) const override;
};
const Strategy& alternating_strategy();

}  // namespace rondo::schedule
