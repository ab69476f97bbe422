// persistent: the head's matrices stay on the chip for all of time, in registers and shared memory of one
// block or of a cluster (FlashRNN, Pöppel et al. 2025; docs/strategies/persistent.md). For cells whose step
// multiplies by matrices; on the tensor cores, fp32 as tf32 or tf32x3.
#pragma once

#include "compiler/schedule/persistent/geometry.h"
#include "compiler/schedule/persistent/parameters.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

class Persistent final : public StrategyOf<PersistentParameters> {
 public:
  std::vector<Variant> variants() const override;
  Legality serves(const target::Profile& profile) const override;
  Legality legal(const Task& task) const override;
  constraint::System space(const Task& task) const override;
  CostModel cost_model(const Task& task) const override;
  std::vector<EstimatePart> parts(const Task& task, const Parameters& parameters) const override;
  std::vector<EstimatePart> measured_chain(const Task& task, const Parameters& parameters) const override;
  double model_error() const override { return 1.1; }  // h200-model.json
  std::int64_t turn(const Parameters& parameters) const override;
  int rows_added(int batch_rows) const override { return rows_added_by_tiles(batch_rows); }

 protected:
  void add_launches(const Task& task, const PersistentParameters& parameters,
                    KernelPlan& plan) const override;
};

// Parts of build_kernels(), one file each.
Launch persistent_forward(const Task& task, const PersistentParameters& parameters);
// All launches of the backward pass, workspace and scratch: products of all steps again, the sweep, sums of
// parameter gradients, matrix gradients.
void persistent_backward(const Task& task, const PersistentParameters& parameters, KernelPlan& plan);

}  // namespace rondo::schedule
