// The reference executor: runs any cell over a sequence, forward and backward, on the CPU. The oracle of
// every kernel and the fallback where there is no GPU.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/step/reference/matrices.h"
#include "compiler/step/reference/perturbation.h"
#include "compiler/step/sizes.h"
#include "compiler/support/result.h"

namespace rondo::step {

// Dense row-major tensors by the name of the cell's declaration, in the layouts of TensorKind (step_ir.h).
template <class Real>
using TensorMap = std::map<std::string, std::vector<Real>>;

template <class Real>
struct ForwardResult {
  TensorMap<Real> outputs;      // by output name, [B, T, H, rows, D]
  TensorMap<Real> last_states;  // by state name, [B, H, rows, D]
  TensorMap<Real> history;  // by state name, the state AFTER each step, [B, T, H, rows, D]; filled if asked
};

template <class Real>
struct ForwardArguments {
  TensorMap<Real> inputs;
  TensorMap<Real> params;
  TensorMap<Real> initial_states;           // missing: what the cell says, mostly zero
  std::map<std::string, double> constants;  // overrides of `const`s
  // Of a cell with forms (forms.h), by tensor name: resets [B, T], set where they are not 0, and lengths [B].
  TensorMap<Real> flags = {};
};

template <class Real>
struct BackwardResult {
  TensorMap<Real> inputs;  // same shapes as the inputs
  TensorMap<Real> params;
  TensorMap<Real> initial_states;
};

template <class Real>
struct LossGradients {
  TensorMap<Real> outputs;      // dLoss/d output, every step; missing: zero
  TensorMap<Real> last_states;  // dLoss/d last state; missing: zero
};

// Of a cell with lengths: sets every number of inputs and of gradients of outputs that stands past the end of
// its row. No result may depend on these.
void fill_past_ends(const Cell& cell, const Sizes& sizes, double value, ForwardArguments<double>& arguments,
                    LossGradients<double>& loss);

// After each step, `round_state` (if set) is applied to every state value, and the inputs are used as given:
// this is how a plain loop in a 16-bit storage type is imitated. `round_product` likewise is applied to the
// vectors that matrices multiply, to these products, and to the factors of matrix gradients: a matrix product
// in a storage type takes and gives numbers of that type. `round_vector` is applied to the vectors that
// matrices multiply and to nothing else: with matrices that are rounded as well, this is a loop whose
// products take a shorter type than what it stores. `perturbation` (if set; it outlives the run) adds random
// errors to everything that a kernel may round: in a forward run to the step's values, in a backward run to
// the backward step's values, to the saved states that it reads and to sums of gradients. `matrices` (if set;
// they outlive the run) are of the same parameters, with norms where the run is perturbed; else the run makes
// its own. Threads: 0 = all cores. Errors (Input): a tensor missing, unknown, or of the wrong number of
// elements, naming both.
template <class Real>
struct RunOptions {
  int threads = 0;
  bool keep_history = false;
  Real (*round_state)(Real) = nullptr;
  Real (*round_product)(Real) = nullptr;
  Real (*round_vector)(Real) = nullptr;
  const Perturbation* perturbation = nullptr;
  const Matrices<Real>* matrices = nullptr;
};

template <class Real>
Result<ForwardResult<Real>> run_forward(const Cell& cell, const Sizes& sizes,
                                        const ForwardArguments<Real>& arguments,
                                        const RunOptions<Real>& options = {});
// Reruns the forward pass inside, then sweeps back through time with the backward step.
template <class Real>
Result<BackwardResult<Real>> run_backward(const Cell& cell, const Sizes& sizes,
                                          const ForwardArguments<Real>& arguments,
                                          const LossGradients<Real>& loss,
                                          const RunOptions<Real>& options = {});
// The same from saved states, without another forward pass: `history` holds every state after each step,
// [B, T, H, rows, D]. Errors (Input) also for one that is missing or of the wrong number of elements.
template <class Real>
Result<BackwardResult<Real>> run_backward_from(const Cell& cell, const Sizes& sizes,
                                               const ForwardArguments<Real>& arguments,
                                               const LossGradients<Real>& loss, TensorMap<Real> history,
                                               const RunOptions<Real>& options = {});
// Several runs that differ in their perturbation alone, step by step together, so that a matrix is read once
// for all of them: the result of each is what it has alone. At least one; they take the place of that of
// `options`.
template <class Real>
Result<std::vector<ForwardResult<Real>>> run_forward_perturbed(const Cell& cell, const Sizes& sizes,
                                                               const ForwardArguments<Real>& arguments,
                                                               std::span<const Perturbation> perturbations,
                                                               const RunOptions<Real>& options = {});
// Of a backward pass each result is handed to `take`, with the number of its perturbation, before the next is
// made: gradients of matrices are large, and what is done with one may be done while they are in the cache.
template <class Real>
using TakeGradients = std::function<void(std::size_t run, BackwardResult<Real> result)>;
template <class Real>
Status run_backward_perturbed(const Cell& cell, const Sizes& sizes, const ForwardArguments<Real>& arguments,
                              const LossGradients<Real>& loss, const TensorMap<Real>& history,
                              std::span<const Perturbation> perturbations, const TakeGradients<Real>& take,
                              const RunOptions<Real>& options = {});
// All are instantiated for float and double.

}  // namespace rondo::step
