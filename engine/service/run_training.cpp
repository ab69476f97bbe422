#include "engine/service/run_training.h"

#include <fmt/format.h>

namespace rondo::engine {

using schedule::Role;
using schedule::TensorRef;

namespace {

void round_all(step::TensorMap<double>& tensors, kernel::Storage storage) {
  for (auto& [name, values] : tensors)
    for (double& value : values) value = scalar::nearest(storage, value);
}

schedule::Task forward_of(const schedule::Task& backward) {
  schedule::Problem problem = backward.problem;
  problem.pass = schedule::Pass::ForwardSave;
  return backward.with(problem);
}

const std::vector<double>* given(const schedule::Task& task, TensorRef ref,
                                 const step::ForwardArguments<double>& arguments,
                                 const step::LossGradients<double>& loss) {
  const step::TensorMap<double>* map = nullptr;
  switch (ref.role) {
    case Role::Input: map = &arguments.inputs; break;
    case Role::Param: map = &arguments.params; break;
    case Role::InitialState: map = &arguments.initial_states; break;
    case Role::Resets:
    case Role::Lengths: map = &arguments.flags; break;
    case Role::OutputGradient: map = &loss.outputs; break;
    case Role::LastStateGradient: map = &loss.last_states; break;
    default: return nullptr;
  }
  const auto found = map->find(task.written.tensor(ref.tensor).name);
  return found == map->end() ? nullptr : &found->second;
}

step::TensorMap<double>& result_of(Role role, TrainingRun& run) {
  switch (role) {
    case Role::Output: return run.forward.outputs;
    case Role::LastState: return run.forward.last_states;
    case Role::InputGradient: return run.gradients.inputs;
    case Role::ParamGradient: return run.gradients.params;
    default: return run.gradients.initial_states;
  }
}

// What no kernel writes, since no value reaches it.
void add_zeros(const schedule::Task& task, step::BackwardResult<double>& gradients) {
  const auto add = [&](step::TensorKind kind, step::TensorMap<double>& map) {
    for (const step::TensorId id : task.written.of_kind(kind)) {
      const step::Tensor& tensor = task.written.tensor(id);
      map.try_emplace(tensor.name, static_cast<std::size_t>(step::element_count(tensor, task.problem.sizes)),
                      0.0);
    }
  };
  add(step::TensorKind::Input, gradients.inputs);
  add(step::TensorKind::Param, gradients.params);
  add(step::TensorKind::State, gradients.initial_states);
}

}  // namespace

Result<TrainingRun> train_on_reference(const schedule::Task& backward,
                                       const step::ForwardArguments<double>& arguments,
                                       const step::LossGradients<double>& loss) {
  Result<CellRun> forward = run_on_reference(forward_of(backward), arguments);
  if (!forward) return forward.error();
  step::ForwardArguments<double> with_constants = arguments;
  with_constants.constants = backward.problem.constants;
  auto gradients = step::run_backward(backward.written, backward.problem.sizes, with_constants, loss);
  if (!gradients) return gradients.error();
  round_all(gradients->inputs, backward.problem.storage);
  const kernel::Storage computed = scalar::computed_in(backward.problem.storage);
  round_all(gradients->params, computed);
  round_all(gradients->initial_states, computed);
  return TrainingRun{std::move(forward).value(), std::move(gradients).value()};
}

TrainingRun train_on_nothing(const schedule::Task& backward, const step::ForwardArguments<double>& arguments,
                             const step::LossGradients<double>& loss) {
  TrainingRun run{run_of_nothing(forward_of(backward), arguments), {}};
  run.gradients.initial_states = loss.last_states;
  add_zeros(backward, run.gradients);
  return run;
}

Result<TrainingRun> train_on_device(const schedule::Task& backward,
                                    const step::ForwardArguments<double>& arguments,
                                    const step::LossGradients<double>& loss, const runtime::Device& device,
                                    const TrainingPlans& plans, std::int64_t every) {
  Result<TrainingStep> step =
      TrainingStep::make(backward, backward.problem.sizes, every, plans, device,
                         [&](TensorRef ref) { return given(backward, ref, arguments, loss); });
  if (!step) return step.error();
  if (Status status = step->run(); !status) return status.error();
  Result<TrainingStep::Results> results = step->download();
  if (!results) return results.error();
  TrainingRun run;
  for (auto& [ref, name, result] : *results) {
    if (result.unwritten > 0)
      return Error{ErrorKind::Wrong,
                   fmt::format("the kernel left {} elements of '{}' unwritten", result.unwritten, name)};
    result_of(ref.role, run)[backward.written.tensor(ref.tensor).name] = std::move(result.values);
  }
  add_zeros(backward, run.gradients);
  run.memory = step->memory();
  return run;
}

}  // namespace rondo::engine
