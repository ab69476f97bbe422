// Is a plan right? Runs it on a device on random inputs with poisoned outputs and compares every tensor with
// the reference.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/problem/task.h"
#include "engine/check/cases.h"
#include "engine/check/compare.h"
#include "engine/data/host_problem.h"
#include "engine/plan/device_tensor.h"

namespace rondo::engine {

// What a line of Verification::covered begins with that says what was left out.
inline constexpr const char* kNotCovered = "not ";

struct Verification {
  std::vector<TensorCheck> checks;   // every tensor the pass computes, of every case
  std::vector<std::string> covered;  // the cases, for people
  // Nothing is wrong, and of every tensor a run agrees whose limit says something; of several steps, where
  // there is one.
  bool passed = false;
  std::string summary() const;  // "all 6 tensors agree, worst h_out: ..." or the first failures
  void finish();                // sets `passed` from the checks
  bool says_nothing() const;    // nothing is wrong, and all is too ill-conditioned to be right
  Said said() const;
  std::vector<std::string> untold() const;  // tensors of which no such run agrees
  std::string counts() const;               // "5 agree, 0 wrong, 1 cannot tell": of the checks
  std::int64_t count(Said said) const;
  std::string extent() const;  // "3 shapes", and what was left out
};

// The data, the exact results and how far correct ones may lie from them, made once and used for any number
// of plans of one problem.
class Verifier {
 public:
  // Begins with the data of `cases`, as add() makes them; what is given takes the place of random numbers.
  static Result<Verifier> make(const schedule::Task& task, const std::vector<VerifyCase>& cases,
                               std::uint64_t seed, Given given = nullptr);

  // Makes the data of these cases, of those that it has not yet, and keeps them; of many the first are
  // forgotten. Runs the reference executor; no GPU needed. Errors: those of the reference, Input when its
  // results are not finite.
  Status add(const std::vector<VerifyCase>& cases);

  // Runs a plan that `device` has loaded on the data of all cases, or of some, which are added first, and
  // waits. It must be of this verifier's cell and problem. An Error is what kept it from running (Device,
  // Input); a run with wrong results is a Verification that did not pass. Of some: where nothing is wrong and
  // some tensor cannot be told, better data are added (better_cases()) until it can.
  Result<Verification> check(const runtime::Device& device, const runtime::LoadedPlan& plan) const;
  Result<Verification> check(const runtime::Device& device, const runtime::LoadedPlan& plan,
                             const std::vector<VerifyCase>& cases);

  // Two runs on the same data give the same bits? Error Wrong names the tensor that differs.
  Status check_repeatable(const runtime::Device& device, const runtime::LoadedPlan& plan, int runs = 3) const;

  // The checks of one case over results brought in by the caller: what check() does after the device is done.
  // `results` in dense order, by tensor.
  struct CaseData {
    VerifyCase shape;
    bool exact_was_stored = false;  // Tolerance::with_stored
    HostProblem data;
    ReferenceResult exact;
    Spreads spreads;
  };
  const std::vector<CaseData>& cases() const { return cases_; }
  Result<TensorCheck> check_tensor(const CaseData& run, schedule::TensorRef ref,
                                   const ReadBack& result) const;

 private:
  struct Tensors {
    std::vector<DeviceTensor> all;
    runtime::Memory workspace;
    runtime::Bindings bindings;
  };
  Result<Tensors> prepare(const CaseData& run, const runtime::Device& device,
                          const runtime::LoadedPlan& plan) const;
  Status poison(const Tensors& tensors, const runtime::Device& device) const;
  // What a plan has left of a case.
  struct Results {
    const CaseData* run;
    std::vector<std::pair<schedule::TensorRef, ReadBack>> tensors;
  };
  Result<Results> run_case(const CaseData& run, const runtime::Device& device,
                           const runtime::LoadedPlan& plan) const;
  Status compare_case(const Results& results, Verification& into) const;
  // Runs a plan on cases, one after the other, and compares what it has left of one beside the runs of
  // others.
  Status check_cases(const std::vector<const CaseData*>& cases, const runtime::Device& device,
                     const runtime::LoadedPlan& plan, Verification& into) const;
  Status look_again(const runtime::Device& device, const runtime::LoadedPlan& plan,
                    const std::vector<VerifyCase>& cases, Verification& into);
  bool is_computed(schedule::TensorRef ref) const;
  // The data of a case's shape, and their exact results.
  Status compute_exact(CaseData& run, std::uint64_t seed) const;
  // That of all cases, and how far correct results may lie from the exact ones. `seeds`: of the errors, each
  // one more than that of the data.
  Status compute(std::vector<CaseData>& made, const std::vector<std::uint64_t>& seeds) const;
  Status check_all_numbers(const CaseData& run) const;
  // Whether all values are numbers of the tensor's storage type. Error Input: which is not, and where.
  Status check_numbers(schedule::TensorRef ref, const VerifyCase& shape,
                       const std::vector<double>& values) const;
  const CaseData* find(const VerifyCase& shape) const;

  std::shared_ptr<const schedule::Task> task_;
  std::uint64_t seed_ = 1;
  Given given_;
  bool decisions_ = false;  // has_decisions()
  std::vector<CaseData> cases_;
};

}  // namespace rondo::engine
