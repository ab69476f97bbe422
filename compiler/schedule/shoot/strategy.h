// shoot: time in segments that are solved side by side from guessed starts, until the starts are right
// (docs/strategies/shoot.md). Multiple shooting; with segments of one step it is Newton's method for all
// steps at once (Lim et al., "Parallelizing non-linear sequential models over the sequence length", ICLR
// 2024; ParaRNN, Apple, ICLR 2026). For few channels and long sequences, where a step has too little work
// for a GPU. Forward only: the backward pass is affine, and stream computes it in segments.
#pragma once

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/shoot/parameters.h"

namespace rondo::schedule {

class Shoot final : public StrategyOf<ShootParameters> {
 public:
  Legality serves(const target::Profile& profile) const override;
  Legality legal(const Task& task) const override;
  constraint::System space(const Task& task) const override;
  CostModel cost_model(const Task& task) const override;
  std::int64_t turn(const Parameters& parameters) const override;

 protected:
  void add_launches(const Task& task, const ShootParameters& parameters, KernelPlan& plan) const override;
};

}  // namespace rondo::schedule
