#include "engine/check/verify_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace rondo::engine {

using schedule::Pass;
using schedule::Role;
using schedule::TensorRef;

namespace {

schedule::Task of_pass(const schedule::Task& task, Pass pass) {
  schedule::Problem problem = task.problem;
  problem.pass = pass;
  return task.with(problem);
}

// Two parts and a step of a third, in few rows, and the problem's own steps, each as far as the budget goes.
// Of one part there is nothing to compare. States that are made again of outputs are rounded on another way
// than those of the pass in one piece: each way errs as a forward pass does.
std::vector<VerifyCase> cases_in_parts(const schedule::Task& task, std::int64_t every, bool made_again) {
  std::vector<VerifyCase> cases = cases_for(task, {1, 0, every}, gpu_budget());
  std::erase_if(cases, [&](const VerifyCase& one) { return one.sizes.time <= every; });
  for (VerifyCase& one : cases) {
    one.layout = {};
    one.erring_states = made_again;
  }
  return cases;
}

class Comparison {
 public:
  Comparison(const schedule::Task& task, const TrainingPlans& plans, const runtime::Device& device)
      : task_(task), plans_(plans), device_(device) {}

  // `forward` and `backward` have the same data.
  Status add(const Verifier& forward, const Verifier& backward, std::size_t number, std::int64_t every) {
    const Verifier::CaseData& outputs = forward.cases()[number];
    Verifier::CaseData gradients = backward.cases()[number];
    const Result<TrainingStep::Results> whole = run(gradients, gradients.shape.sizes.time);
    if (!whole) return whole.error();
    take(*whole, gradients.exact.backward);
    gradients.exact_was_stored = true;
    const Result<TrainingStep::Results> parts = run(gradients, every);
    if (!parts) return parts.error();
    for (const auto& [ref, name, result] : *parts) {
      const bool is_forward = ref.role == Role::Output || ref.role == Role::LastState;
      Result<TensorCheck> check = is_forward ? forward.check_tensor(outputs, ref, result)
                                             : backward.check_tensor(gradients, ref, result);
      if (!check) return check.error();
      found_.checks.push_back(std::move(check).value());
    }
    found_.covered.push_back(fmt::format("{}: {} parts of {} steps", gradients.shape.text(),
                                         TimeParts{gradients.shape.sizes.time, every}.count(), every));
    return success();
  }

  Verification finish() && {
    found_.finish();
    return std::move(found_);
  }

 private:
  Result<TrainingStep::Results> run(const Verifier::CaseData& data, std::int64_t every) const {
    Result<TrainingStep> step =
        TrainingStep::make(task_, data.shape.sizes, every, plans_, device_, [&](TensorRef ref) {
          return given_values(ref, task_.written, Pass::Backward, data.data, data.exact.forward);
        });
    if (!step) return step.error();
    if (Status status = step->run(); !status) return status.error();
    return step->download();
  }

  // In the place of the reference's gradients.
  void take(const TrainingStep::Results& results, step::BackwardResult<double>& into) const {
    for (const auto& [ref, full_name, result] : results) {
      const std::string& name = task_.written.tensor(ref.tensor).name;
      if (ref.role == Role::InputGradient) into.inputs[name] = result.values;
      if (ref.role == Role::ParamGradient) into.params[name] = result.values;
      if (ref.role == Role::InitialStateGradient) into.initial_states[name] = result.values;
    }
  }

  const schedule::Task& task_;
  const TrainingPlans& plans_;
  const runtime::Device& device_;
  Verification found_;
};

}  // namespace

Result<Verification> verify_parts(const schedule::Task& backward, const TrainingPlans& plans,
                                  std::int64_t every, const runtime::Device& device, std::uint64_t seed,
                                  Given given) {
  const std::vector<VerifyCase> cases = cases_in_parts(backward, every, plans.again != nullptr);
  if (cases.empty())
    return Error{ErrorKind::Input,
                 fmt::format("there is nothing to compare in parts of {} steps: the runs that the reference "
                             "can follow have no more",
                             every),
                 "verify shorter parts, or a smaller problem: fewer rows or channels"};
  Result<Verifier> forward_check = Verifier::make(of_pass(backward, Pass::ForwardSave), cases, seed, given);
  if (!forward_check) return forward_check.error();
  Result<Verifier> backward_check = Verifier::make(backward, cases, seed, given);
  if (!backward_check) return backward_check.error();
  Comparison comparison(backward, plans, device);
  for (std::size_t number = 0; number < backward_check->cases().size(); ++number)
    if (Status status = comparison.add(*forward_check, *backward_check, number, every); !status)
      return status.error();
  return std::move(comparison).finish();
}

}  // namespace rondo::engine
