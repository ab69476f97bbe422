// A forward and a backward pass over the caller's arrays: outputs, and the gradients of a loss that is a
// weighted sum of outputs and last states.
#pragma once

#include "engine/plan/parts_of_time.h"
#include "engine/service/run_cell.h"

namespace rondo::engine {

struct TrainingRun {
  CellRun forward;
  // By the cell's names: of inputs rounded to the storage type, all others fp32.
  step::BackwardResult<double> gradients;
  std::optional<PartsMemory> memory = {};  // of a device
};

// Of all of these `loss` holds the weights: of outputs, [B, T, H, rows, D], and of last states; what it has
// not weighs nothing. The task's problem is a Backward one of the arguments' sizes. Errors: Input.
Result<TrainingRun> train_on_reference(const schedule::Task& backward,
                                       const step::ForwardArguments<double>& arguments,
                                       const step::LossGradients<double>& loss);

// Of no rows or no steps: gradients of parameters are zero, of first states the weights of the last ones.
TrainingRun train_on_nothing(const schedule::Task& backward, const step::ForwardArguments<double>& arguments,
                             const step::LossGradients<double>& loss);

// Runs plans that the device has loaded, in parts of `every` steps, once and waits. Errors: those of
// TrainingStep; Wrong where a kernel left results unwritten.
Result<TrainingRun> train_on_device(const schedule::Task& backward,
                                    const step::ForwardArguments<double>& arguments,
                                    const step::LossGradients<double>& loss, const runtime::Device& device,
                                    const TrainingPlans& plans, std::int64_t every);

}  // namespace rondo::engine
