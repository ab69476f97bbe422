#include "engine/check/verify_simulated.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/simulate_plan.h"
#include "engine/measure/measure.h"

namespace rondo::engine {
namespace {

schedule::TensorValues given_tensors(const schedule::Task& task, const Verifier::CaseData& run) {
  schedule::TensorValues given;
  for (const schedule::TensorRef ref : tensors_of_pass(task))
    if (const std::vector<double>* values =
            given_values(ref, task.written, task.problem.pass, run.data, run.exact.forward))
      given[ref] = *values;
  return given;
}

Status check_case(const schedule::Task& task, const schedule::KernelPlan& plan, const Verifier& verifier,
                  const Verifier::CaseData& run, SimulatedVerification& into) {
  schedule::Task small = task;
  small.problem.sizes = run.shape.sizes;
  const int pad = static_cast<int>(run.shape.layout.gap);
  const schedule::SimulatedRun simulated =
      schedule::simulate_plan(small, plan, given_tensors(task, run), pad);
  for (const std::string& fault : simulated.faults) into.faults.push_back(run.shape.text() + ": " + fault);
  for (const auto& [ref, values] : simulated.written) {
    ReadBack result;
    result.values = values;
    const std::string name = schedule::name_of(ref, task.written);
    result.unwritten = std::ranges::count(simulated.unwritten, name);
    Result<TensorCheck> check = verifier.check_tensor(run, ref, result);
    if (!check) return check.error();
    into.verification.checks.push_back(std::move(check).value());
  }
  into.verification.covered.push_back(fmt::format("{}: {}", run.shape.text(), run.shape.covers));
  return success();
}

}  // namespace

Result<SimulatedVerification> verify_simulated(const schedule::Task& task, const schedule::KernelPlan& plan,
                                               const std::vector<VerifyCase>& cases, std::uint64_t seed,
                                               const Given& given) {
  SimulatedVerification result;
  for (const VerifyCase& shape : cases) {
    const Result<Verifier> verifier = Verifier::make(task, {shape}, seed++, given);
    if (!verifier) return verifier.error();
    if (Status status = check_case(task, plan, *verifier, verifier->cases().front(), result); !status)
      return status.error();
  }
  result.verification.finish();
  if (cases.empty()) return result;
  const bool decisions = has_decisions(task.written, task.problem.pass);
  for (const VerifyCase& better : better_cases(longest_case(cases), task.problem.pass, decisions)) {
    if (result.verification.said() != Said::CannotTell) break;
    const Result<Verifier> verifier = Verifier::make(task, {better}, seed++, given);
    if (!verifier) continue;  // its numbers are of no use
    if (Status status = check_case(task, plan, *verifier, verifier->cases().front(), result); !status)
      return status.error();
    result.verification.finish();
  }
  return result;
}

}  // namespace rondo::engine
