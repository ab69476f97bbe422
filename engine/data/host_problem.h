// Test data for any cell on the host: random but meaningful inputs, and what the reference makes of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/step/ranges.h"
#include "compiler/step/reference/executor.h"
#include "compiler/support/result.h"
#include "engine/data/given_data.h"

namespace rondo::engine {

// Everything a run is given. All values are exact in the storage type of their tensor
// (schedule/plan/signature.h), so the reference and a kernel see the same numbers.
struct HostProblem {
  step::Sizes sizes;
  step::ForwardArguments<double> forward;
  step::LossGradients<double> loss;  // random weights on every step of every output, and on every last state
  // The reference's backward pass reads the states that the forward pass stored, rounded to the type of their
  // history, as kernels do. Else it reads those of a forward pass that rounds nothing, and what rounding them
  // does is part of how far right results may be off.
  bool stored_states = false;
  // What rounding does to a forward pass is part of how far right gradients may be off, too: they are those
  // of a whole training step.
  bool erring_states = false;
};

struct RandomOptions {
  std::uint64_t seed = 1;
  bool initial_states = true;  // false: none given (zero)
  double matrix_scale = 1;     // times what is said below
  bool arbitrary_states = false;
  const GivenData* given = nullptr;  // what of it is not random; lives as long as the call
  double data_scale = 1;             // of inputs and of parameters that are no matrices
};

// Inputs and loss weights are uniform in [-1, 1], vector and scalar parameters in [-1/2, 1/2], matrices in
// [-1/sqrt(D), 1/sqrt(D)]: recurrences stay near stable. What has a range in the cell's text lies in it
// (random_values_in()). Initial states are the ones that the cell itself reaches after a few steps from what
// its text says, so that states with a meaning (normalisers, running maxima) have one; arbitrary ones are
// drawn as inputs are. What is given takes the place of these; of states, where only some are given, the
// steps begin with those. Past the end of a row of a cell with lengths inputs and loss weights are no
// numbers: they may be anything. The same seed gives the same values for a tensor of the same name and size.
// Errors: those of the reference executor; Input when a state is not finite after these steps.
Result<HostProblem> random_problem(const schedule::Task& task, const step::Sizes& sizes,
                                   const RandomOptions& options = {});

// The bound of a tensor's random values, as said above.
double random_scale(const step::Tensor& tensor, const step::Sizes& sizes);

// `count` numbers uniform in [-scale, scale], rounded to the storage type.
std::vector<double> random_values(kernel::Storage storage, std::int64_t count, double scale,
                                  std::uint64_t seed);
// `count` numbers of a range that the storage type holds: uniform where it has two ends; from its one end on,
// exponentially distributed with the mean 1, or with the end's own size where that is more than 1; uniform in
// [-1, 1] without an end.
std::vector<double> random_values_in(const step::Interval& range, kernel::Storage storage, std::int64_t count,
                                     std::uint64_t seed);
// The values of an input, a parameter or an initial state by its range, if the cell says one; of these and of
// gradients else uniform in [-scale, scale].
std::vector<double> random_numbers(const schedule::Task& task, schedule::TensorRef ref, std::int64_t count,
                                   double scale, std::uint64_t seed);

// A tensor of flags (step/forms.h). Resets: one step of eight. Lengths: T in the first row, and any from 0 to
// T in the others, so that some batch tiles end before T.
std::vector<double> random_flags(const step::Tensor& tensor, const step::Sizes& sizes, std::uint64_t seed);

// What the reference gives for a problem, in double; `backward` is filled for Pass::Backward only. Products
// that pass from forward to backward are outputs by the names of schedule::product_output().
struct ReferenceResult {
  step::ForwardResult<double> forward;  // with histories
  step::BackwardResult<double> backward;
};
// Has the backward pass read stored states (HostProblem::stored_states), and first states of the same type,
// which no kernel needs to round any more.
void store_states(const schedule::Task& task, HostProblem& data);
Result<ReferenceResult> run_reference(const schedule::Task& task, const HostProblem& data);
// What the pass computes, with the errors of each of some perturbations: of a forward pass the forward
// results (histories only for ForwardSave), of a backward pass the gradients. By the calling thread alone,
// which goes through time for all of them together, and then hands each to `take`, with the number of its
// perturbation. `exact`: of run_reference, whose states a backward pass is given. `matrices`: of the data's
// parameters, with norms, so that several calls share them.
using TakeResult = std::function<void(std::size_t run, const ReferenceResult& result)>;
Status run_perturbed(const schedule::Task& task, const HostProblem& data, const ReferenceResult& exact,
                     std::span<const step::Perturbation> perturbations, const TakeResult& take,
                     const step::Matrices<double>* matrices = nullptr);

// The values a tensor is given by the caller of a pass; null for tensors that the pass computes. For
// Backward, outputs, histories and saved products are given: those of `forward`.
const std::vector<double>* given_values(schedule::TensorRef ref, const step::Cell& cell, schedule::Pass pass,
                                        const HostProblem& data, const step::ForwardResult<double>& forward);
// The values a pass computes for a tensor; null for tensors it is given.
const std::vector<double>* computed_values(schedule::TensorRef ref, const step::Cell& cell,
                                           schedule::Pass pass, const ReferenceResult& results);

}  // namespace rondo::engine
