// A strategy for cells of which states, parameters or outputs have extents of their own: another strategy
// walks the cell with D channels in their place (widened_cell.h). Launches before it bring what is given into
// tensors of such channels in the workspace, and launches behind it take the results out of them. Cells
// without such extents it hands on as they are.
#pragma once

#include <memory>
#include <optional>

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/widen/widened_cell.h"

namespace rondo::schedule {

class Widening final : public Strategy {
 public:
  explicit Widening(const Strategy& walk) : walk_(walk) {}

  std::string name() const override { return walk_.name(); }
  std::vector<Variant> variants() const override { return walk_.variants(); }
  Legality serves(const target::Profile& profile) const override { return walk_.serves(profile); }
  Legality legal(const Task& task) const override;
  constraint::System space(const Task& task) const override;
  CostModel cost_model(const Task& task) const override;
  std::vector<EstimatePart> parts(const Task& task, const Parameters& parameters) const override;
  std::vector<EstimatePart> measured_chain(const Task& task, const Parameters& parameters) const override;
  double model_error() const override { return walk_.model_error(); }
  int alignment(const Problem& problem, const Parameters& parameters) const override {
    return walk_.alignment(problem, parameters);
  }
  std::span<const ParameterRow> parameters() const override { return walk_.parameters(); }
  std::int64_t turn(const Parameters& parameters) const override { return walk_.turn(parameters); }
  KernelPlan build_kernels(const Task& task, const Parameters& parameters) const override;

 private:
  const Strategy& walk_;
};

}  // namespace rondo::schedule
