// shoot: time in segments that are solved side by side from guessed starts, until the starts are right
// (docs/strategies/shoot.md). Multiple shooting; with segments of one step it is Newton's method for all
// steps at once (Lim et al., "Parallelizing non-linear sequential models over the sequence length", ICLR
// 2024; ParaRNN, Apple, ICLR 2026). For few channels and long sequences, where a step has too little work
// for a GPU. Forward only: the backward pass is affine, and stream computes it in segments.
#pragma once

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

class Shoot final : public Strategy {
 public:
  std::string name() const override { return "shoot"; }
  Legality serves(const target::Profile& profile) const override;
  Legality legal(const Task& task) const override;
  std::span<const ParameterRow> parameters() const override;
  constraint::System space(const Task& task) const override;
  CostModel cost_model(const Task& task) const override;
  int alignment(const Problem& problem, const Parameters& parameters) const override;
  std::int64_t turn(const Parameters& parameters) const override;
  KernelPlan build_kernels(const Task& task, const Parameters& parameters) const override;
};
const Strategy& shoot_strategy();

}  // namespace rondo::schedule
