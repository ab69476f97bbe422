// Is a kernel right at the user's full sizes? The reference executor cannot follow there, so a plain kernel
// (plain.h) runs beside it, on the same inputs, in fp32 (of problems in fp64 in that).
//
// What they may differ by. A fixed tolerance knows nothing of the cell's conditioning over all T steps, and
// the spread of the reference cannot be had at this size. But the plain kernel is quick: it runs several
// times more, each time with inputs that are off at random by as much as a kernel may round inside the pass
// (rounding_inside()), with what matrices multiply off by a rounding at every step (erring_factors.h), with
// numbers of the cell that are off by one, with accurate functions where the problem has approximate ones,
// and, in a backward pass, with states that were not rounded to be stored. This is the stochastic arithmetic
// of the reference (step::Perturbation) with the roundings moved to what goes in: once the last bits of it
// differ, all roundings of the run differ too. The spread of these runs around the plain one bounds what the
// problem allows, by the same rules as in a verification (spread.h, compare.h). Half of the runs draw an
// error for every step; in the other half it keeps its sign over time, as that of a constant gate does, and
// that of a gradient is relative to it. Where the pass has decisions, far runs come in pairs, the second with
// all errors turned round: of two sides that a number may fall on, one of the pair takes the other side.
//
// What is compared. Every element of every result is looked at, and where kernel and plain kernel are
// furthest apart, in absolute and in relative terms, the perturbed runs are looked at too: those (batch row,
// time step)s, some at random, and the first and last. Small tensors take part whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/schedule/problem/task.h"
#include "engine/check/verify.h"

namespace rondo::engine {

// A tensor of the pass that the kernel and the plain kernel have each for itself. It is `rows` times `unit`
// elements, dense: a row is one (batch row, time step) where it has these axes.
struct ShapeTensor {
  schedule::TensorRef ref;
  bool computed = false;  // by the pass; else given
  // Filled by values of the caller's; what is not is what a plain forward pass leaves.
  bool random = false;
  std::int64_t rows = 1, unit = 0;
};

// A kernel, its plain kernels and their tensors: on a GPU (device_shape.h), or in a test's simulator.
class ShapeRuns {
 public:
  enum class Side { Kernel, Plain };

  virtual ~ShapeRuns() = default;
  virtual const std::vector<ShapeTensor>& tensors() const = 0;
  // Gives the tensor of one side values that repeat from its first element on, rounded to its storage type.
  virtual Status fill(Side side, schedule::TensorRef tensor, std::span<const double> values) = 0;
  // Runs the plain forward pass for a few steps from zero, and makes the last states both sides' initial
  // ones.
  virtual Status reach_initial_states(std::int64_t steps) = 0;
  // For a backward pass: runs the plain forward pass over all steps, and gives both sides what it leaves,
  // rounded to the problem's storage type.
  virtual Status save() = 0;
  virtual Status run(Side side) = 0;
  // The plain kernels again, for a perturbed run: a backward pass gets what its forward pass leaves,
  // unrounded. `seed`, `amplitude`: of the errors of what matrices multiply (erring_factors.h).
  virtual Status run_perturbed(double seed, double amplitude) = 0;
  // Rows of a tensor, one after the other; the span has room for all of them.
  virtual Status read(Side side, schedule::TensorRef tensor, std::span<const std::int64_t> rows,
                      std::span<double> into) = 0;
};

// A tensor of the problem's pass: how it comes by its values, and its rows.
ShapeTensor shape_tensor(schedule::TensorRef ref, const schedule::Task& task);
// The tensors of the pass: those that are given, and those that both plans compute. What no value reaches, as
// the gradient of an input that the cell does not use, a plan may leave out.
std::vector<ShapeTensor> shape_tensors(const schedule::Task& task,
                                       const std::vector<executable::Tensor>& kernel,
                                       const std::vector<executable::Tensor>& plain);

// The checks at the problem's sizes, with their line for people. Errors: those of the runs; Input where
// nothing can be compared, because results of the plain kernel are not finite. What is given takes the place
// of random numbers.
Result<Verification> check_at_shape(const schedule::Task& task, ShapeRuns& runs, std::uint64_t seed,
                                    const Given& given = nullptr);

// Plain runs of a check. What takes longer than a few seconds in all is cut by whoever makes the runs.
int plain_runs(bool decisions);

}  // namespace rondo::engine
