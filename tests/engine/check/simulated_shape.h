// Kernels and their plain kernels in the simulator, for the check at the full shape.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/plan/simulate_plan.h"
#include "engine/check/at_shape.h"
#include "engine/check/plain.h"

namespace rondo::engine {

class SimulatedShape final : public ShapeRuns {
 public:
  SimulatedShape(const step::Cell& cell, const schedule::Problem& problem, schedule::KernelPlan kernel,
                 PlainPlans plain);

  // Changes a result of the kernel: a planted fault.
  std::function<void(schedule::TensorRef tensor, std::vector<double>& values)> plant;
  std::vector<std::string> faults;  // of the simulator
  int kernel_runs = 0, plain_runs = 0;

  const std::vector<ShapeTensor>& tensors() const override { return tensors_; }
  Status fill(Side side, schedule::TensorRef tensor, std::span<const double> values) override;
  Status reach_initial_states(std::int64_t steps) override;
  Status save() override;
  Status run(Side side) override;
  Status run_perturbed(double seed, double amplitude) override;
  Status read(Side side, schedule::TensorRef tensor, std::span<const std::int64_t> rows,
              std::span<double> into) override;

 private:
  schedule::TensorValues simulate(const schedule::Task& task, const schedule::KernelPlan& plan,
                                  const schedule::TensorValues& given);
  Status run_plain(const PlainPlan& plan);

  const step::Cell& cell_;
  schedule::Problem problem_;
  schedule::KernelPlan kernel_;
  PlainPlans plain_;
  std::vector<ShapeTensor> tensors_;
  std::map<Side, schedule::TensorValues> values_;  // dense
};

}  // namespace rondo::engine
