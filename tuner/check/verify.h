// Is a plan right? Runs it on the GPU on random inputs with poisoned outputs and compares every tensor with
// the reference.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/launch/device_plan.h"
#include "runtime/plan/device_tensor.h"
#include "tuner/check/compare.h"
#include "tuner/data/host_problem.h"

namespace rondo::tuner {

// One run of a verification. Batch and time of `sizes` are free; heads and dim are the problem's.
struct VerifyCase {
  step::Sizes sizes;
  runtime::TensorLayout layout;
  bool initial_states = true;  // false: left unbound, like the gradients of last states
  double matrix_scale = 1;     // of the random matrices (host_problem.h)
  std::string text() const;    // "B=3,T=65,H=1,D=33, gaps of 8"
};

// Sizes that exercise tails and gaps and whose reference takes well under a second: one long run and one
// single step.
std::vector<VerifyCase> default_cases(const step::Cell& cell, const schedule::Problem& problem);
// `main` with gaps between its rows, and a single step of one batch row from states that are not bound.
std::vector<VerifyCase> with_single_step(VerifyCase main, const schedule::Problem& problem);

struct Verification {
  std::vector<TensorCheck> checks;  // every tensor the pass computes, of every case
  bool passed = false;
  std::string summary() const;  // "all 6 tensors agree, worst h_out: ..." or the first failures
  double worst_ratio() const;   // the largest error / limit
};

// The data, the exact results and the plain loop's, made once and used for any number of plans of one
// problem.
class Verifier {
 public:
  // Runs the reference executor; no GPU needed. Errors: those of the reference, Input when its results are
  // not finite.
  static Result<Verifier> make(const step::Cell& cell, const schedule::Problem& problem,
                               const std::vector<VerifyCase>& cases, std::uint64_t seed);

  // Runs the plan on `stream` and waits. The plan must be of this verifier's cell and problem. An Error is
  // what kept it from running (Device, Input); a run with wrong results is a Verification that did not pass.
  Result<Verification> check(const runtime::DevicePlan& plan, runtime::StreamHandle stream) const;

  // Two runs on the same data give the same bits? Error Wrong names the tensor that differs.
  Status check_repeatable(const runtime::DevicePlan& plan, runtime::StreamHandle stream, int runs = 3) const;

  // The checks of one case over results brought in by the caller: what check() does after the GPU is done.
  // `results` in dense order, by tensor.
  struct CaseData {
    VerifyCase shape;
    runtime::HostProblem data;
    runtime::ReferenceResult<double> exact;
    runtime::ReferenceResult<float> loop;
  };
  const std::vector<CaseData>& cases() const { return cases_; }
  Result<TensorCheck> check_tensor(const CaseData& run, schedule::TensorRef ref,
                                   const runtime::ReadBack& result) const;

 private:
  struct Tensors {
    std::vector<runtime::DeviceTensor> all;
    runtime::DeviceBuffer workspace;
    runtime::Bindings bindings;
  };
  Result<Tensors> prepare(const CaseData& run, const runtime::DevicePlan& plan,
                          runtime::StreamHandle stream) const;
  Status poison(const Tensors& tensors, runtime::StreamHandle stream) const;
  Status check_case(const CaseData& run, const runtime::DevicePlan& plan, runtime::StreamHandle stream,
                    Verification& into) const;
  bool is_computed(schedule::TensorRef ref) const;

  std::shared_ptr<const step::Cell> cell_;
  schedule::Problem problem_;
  std::vector<CaseData> cases_;
};

}  // namespace rondo::tuner
