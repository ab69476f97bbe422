// How far the results of correct kernels may lie from the exact ones: measured, by runs of the reference in
// which every rounding errs at random (step::Perturbation).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/schedule/plan/simulate_plan.h"
#include "compiler/schedule/plan/tensor_layout.h"
#include "compiler/schedule/problem/task.h"
#include "engine/data/host_problem.h"

namespace rondo::engine {

// The perturbed runs of a problem. Random ones draw each error afresh, steady ones keep it over time. Far
// ones, of either sort, err `kFar` times as much, or only round to nearest: a kernel may take the other side
// of a decision (select, the derivative of max or relu) only where a far run does too.
enum class RunKind : std::uint8_t { Random, Steady, Far };
inline constexpr double kFar = 16;

// Euclidean norms of the parts of a tensor in which a fault may hide: first of all of it, then, axis by axis,
// of what has one index on that axis (one batch row, one time step, one channel ...). What is not finite
// counts nothing.
std::vector<double> slice_norms(const std::vector<schedule::Axis>& axes, std::span<const double> values);
// "all of it", "T=12": the slice behind an index of slice_norms().
std::string slice_name(const std::vector<schedule::Axis>& axes, std::size_t slice);
// "B=0 T=3 H=0 row=1 D=17".
std::string element_name(const std::vector<schedule::Axis>& axes, std::size_t element);

// Of one tensor.
class Spread {
 public:
  explicit Spread(std::vector<schedule::Axis> axes) : axes_(std::move(axes)) {}
  // What a perturbed run errs by, all of it: slice_norms(), and whether all errors are numbers.
  struct Errors {
    std::vector<double> norms;
    bool finite = true;
  };
  Errors errors(std::span<const double> result, std::span<const double> exact) const;
  // Adds a run: first its errors() for so many elements, then its elements `first` to `end`, those of the
  // whole tensor. Several threads may add different elements at once.
  void add(RunKind kind, Errors errors, std::size_t elements);
  void add_elements(RunKind kind, std::span<const double> result, std::span<const double> exact,
                    std::size_t first, std::size_t end);
  void add(RunKind kind, std::span<const double> result, std::span<const double> exact) {
    add(kind, errors(result, exact), exact.size());
    add_elements(kind, result, exact, 0, exact.size());
  }

  const std::vector<schedule::Axis>& axes() const { return axes_; }
  // The largest error of an element in the runs that are not far.
  double element_error(std::size_t element) const { return static_cast<double>(near_[element]); }
  // The largest error of an element that a correct kernel may have by rounding inside the step; what storing
  // the result adds comes on top (compare.h). `decisions`: the pass compares numbers, so that results may
  // jump.
  double element_limit(std::size_t element, bool decisions) const;
  // The same of the norm of a slice of so many elements. Far runs count with decisions alone: norms vary
  // little, and are not given `kFar` times the error of other runs, as an element is.
  double slice_limit(std::size_t slice, std::int64_t elements, bool decisions) const;
  // Whether all results of the runs that are not far are numbers.
  bool finite() const { return finite_; }
  // The largest norm of an error of the runs that are not far, of the whole tensor.
  double norm() const;

 private:
  std::vector<schedule::Axis> axes_;
  bool finite_ = true;
  std::vector<float> near_, far_;              // by element: the largest error of the runs
  std::vector<std::vector<double>> norms_[3];  // by kind and run: slice_norms() of the errors
};

using Spreads = std::map<schedule::TensorRef, Spread, schedule::TensorRefLess>;

// Of every tensor that the pass computes, on these data. `exact` is the reference's result for them. Errors:
// those of the reference; Input where a result is not finite with random rounding.
Result<Spreads> measure_spreads(const schedule::Task& task, const HostProblem& data,
                                const ReferenceResult& exact, std::uint64_t seed);
// The same of several data, whose runs fill all cores together. What is pointed to must live as long.
struct SpreadCase {
  const HostProblem* data;
  const ReferenceResult* exact;
  std::uint64_t seed;
};
Result<std::vector<Spreads>> measure_spreads(const schedule::Task& task, std::span<const SpreadCase> cases);

// Whether the pass compares numbers: select, the derivative of max and abs, the logarithm of what a bound
// holds off zero.
bool has_decisions(const step::Cell& cell, schedule::Pass pass);

}  // namespace rondo::engine
