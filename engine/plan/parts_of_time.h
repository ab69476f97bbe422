// A training step in parts of time (Chen et al. 2016, https://arxiv.org/abs/1604.06174; for recurrences
// Gruslys et al. 2016, https://arxiv.org/abs/1606.03401). The forward pass goes from part to part and keeps
// the states between them alone. The backward pass begins with the part that was walked last: it makes again
// what it reads of that part, in memory that all parts share. It runs the part's forward pass again, or a
// pass that is given the outputs, where that is faster. Where outputs hold all that is read, nothing is made
// again. The gradient of the states that a part begins with is that of the last states of the part before,
// and gradients of parameters add up. So memory is one part's, for one forward pass more of all parts but the
// last, or less. A single part is the step as it is without parts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/device_tensor.h"
#include "engine/plan/part_bindings.h"

namespace rondo::engine {

// Error Unsupported: a cell that draws, whose draws follow the number of a step in its launch, and one that
// walks both ways, whose parts would have two orders.
Status check_parts_of_time(const step::Cell& cell);

// Of the same device. `forward` is read where there are several parts.
struct TrainingPlans {
  const runtime::LoadedPlan* forward = nullptr;
  const runtime::LoadedPlan* saving = nullptr;
  const runtime::LoadedPlan* backward = nullptr;
  // Saves again what was not kept, of the outputs; null: `saving` does. What its tensors stand for.
  const runtime::LoadedPlan* again = nullptr;
  std::vector<schedule::KnownOutputs::Of> again_of = {};
};

// What a step needs beside the tensors that its caller has anyway.
struct PartsMemory {
  std::int64_t parts = 1;
  // States between parts with two sets of their gradients, and what one part saves for its backward pass.
  std::int64_t saved_bytes = 0;
  std::int64_t workspace_bytes = 0;
  bool products = false;  // whether those of matrices are saved too
};

struct TrainingResult {
  schedule::TensorRef ref;
  std::string name;  // "h_out", "grad_x"
  ReadBack result;
};

// The tensors of a step in a device's memory, and its launches.
class TrainingStep {
 public:
  // The dense values that a tensor is given, an input, a parameter, an initial state, flags, a gradient of an
  // output or of a last state; null: none.
  using GivenOf = std::function<const std::vector<double>*(schedule::TensorRef)>;
  using Results = std::vector<TrainingResult>;

  // The task is a Backward one, whose cell and types are those of all plans; device, plans and task outlive
  // the step. Errors: Device; those of check_parts_of_time(), where there are several parts.
  static Result<TrainingStep> make(const schedule::Task& task, const step::Sizes& sizes, std::int64_t every,
                                   const TrainingPlans& plans, const runtime::Device& device,
                                   const GivenOf& given);

  // Runs all parts of both passes and waits. Error Device.
  Status run();
  // Starts the same, and neither waits nor adds up gradients of parameters: for who times it. After waiting
  // check() gives the error of a kernel that gave up.
  Status submit() const;
  Status check() const;
  // Outputs, last states and gradients.
  Result<Results> download() const;
  PartsMemory memory() const;

 private:
  using Tensors = std::vector<DeviceTensor>;

  TrainingStep(const schedule::Task& task, const step::Sizes& sizes, const TrainingPlans& plans,
               const runtime::Device& device, TimeParts parts);
  Status allocate(const GivenOf& given);
  Status allocate(const executable::Tensor& tensor, const GivenOf& given);
  Status allocate_lengths(schedule::TensorRef ref, const std::vector<double>& lengths);
  std::int64_t workspace_bytes() const;
  // That there are, of which several may be one.
  std::vector<const runtime::LoadedPlan*> all_plans() const;
  const runtime::LoadedPlan& plan_of(PartLaunch which) const;
  Status start(PartLaunch which, std::int64_t part) const;
  Status launch(PartLaunch which, std::int64_t part);
  Status add_gradients();

  const schedule::Task* task_;
  step::Sizes sizes_;
  TrainingPlans plans_;
  const runtime::Device* device_;
  PartBindings parts_;
  std::vector<runtime::Memory> pieces_;  // of parts_, in order
  Tensors whole_;                        // of all steps, and what has no steps
  Tensors lengths_;                      // by part, of a cell that has them
  runtime::Memory workspace_;
  // Of parameters: the parts that are done, in fp32.
  std::map<std::int32_t, ReadBack> sums_;
};

}  // namespace rondo::engine
