#include "engine/service/run_training.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/plan/device_tensor.h"

namespace rondo::engine {

using schedule::Role;
using schedule::TensorRef;

namespace {

void round_all(step::TensorMap<double>& tensors, kernel::Storage storage) {
  for (auto& [name, values] : tensors)
    for (double& value : values) value = static_cast<double>(round_to(storage, static_cast<float>(value)));
}

schedule::Task forward_of(const schedule::Task& backward) {
  schedule::Problem problem = backward.problem;
  problem.pass = schedule::Pass::ForwardSave;
  return backward.with(problem);
}

// The tensors of both passes in a device's memory, each once.
class BothPasses {
 public:
  BothPasses(const schedule::Task& task, const step::ForwardArguments<double>& arguments,
             const step::LossGradients<double>& loss, const runtime::Device& device)
      : task_(task), arguments_(arguments), loss_(loss), device_(device) {}

  Status launch(const runtime::LoadedPlan& plan) {
    const step::Sizes& sizes = task_.problem.sizes;
    runtime::Bindings bindings;
    for (const executable::Tensor& tensor : plan.tensors())
      if (Status status = bind(tensor, bindings); !status) return status;
    const std::int64_t bytes = plan.workspace_bytes(sizes.batch, sizes.time);
    Result<runtime::Memory> workspace = device_.allocate(static_cast<std::size_t>(bytes));
    if (!workspace) return workspace.error();
    if (bytes > 0) bindings.set_workspace(workspace->address(), bytes);
    if (Status status = plan.launch(bindings, sizes.batch, sizes.time); !status) return status;
    if (Status status = device_.wait(); !status) return status;
    return plan.check();
  }

  Status download(TrainingRun& into) const {
    for (const DeviceTensor& tensor : tensors_) {
      step::TensorMap<double>* map = result_of(tensor.ref().role, into);
      if (map == nullptr) continue;
      Result<ReadBack> result = tensor.download();
      if (!result) return result.error();
      if (result->unwritten > 0)
        return Error{ErrorKind::Wrong, fmt::format("the kernel left {} elements of '{}' unwritten",
                                                   result->unwritten, tensor.name())};
      (*map)[name_of(tensor.ref())] = std::move(result->values);
    }
    return success();
  }

 private:
  const std::string& name_of(TensorRef ref) const { return task_.written.tensor(ref.tensor).name; }

  const std::vector<double>* given(TensorRef ref) const {
    const step::TensorMap<double>* map = nullptr;
    switch (ref.role) {
      case Role::Input: map = &arguments_.inputs; break;
      case Role::Param: map = &arguments_.params; break;
      case Role::InitialState: map = &arguments_.initial_states; break;
      case Role::Resets:
      case Role::Lengths: map = &arguments_.flags; break;
      case Role::OutputGradient: map = &loss_.outputs; break;
      case Role::LastStateGradient: map = &loss_.last_states; break;
      default: return nullptr;
    }
    const auto found = map->find(name_of(ref));
    return found == map->end() ? nullptr : &found->second;
  }

  static step::TensorMap<double>* result_of(Role role, TrainingRun& run) {
    switch (role) {
      case Role::Output: return &run.forward.outputs;
      case Role::LastState: return &run.forward.last_states;
      case Role::InputGradient: return &run.gradients.inputs;
      case Role::ParamGradient: return &run.gradients.params;
      case Role::InitialStateGradient: return &run.gradients.initial_states;
      default: return nullptr;
    }
  }

  // What the first pass saves stays where it is for the second.
  Status bind(const executable::Tensor& tensor, runtime::Bindings& bindings) {
    if (schedule::is_internal(tensor.ref.role)) return success();
    const auto known =
        std::ranges::find_if(tensors_, [&](const DeviceTensor& made) { return made.ref() == tensor.ref; });
    if (known != tensors_.end()) {
      bindings.set(known->binding());
      return success();
    }
    const std::vector<double>* values = given(tensor.ref);
    if (values == nullptr && tensor.need == executable::Need::Zero) return success();
    Result<DeviceTensor> made = DeviceTensor::allocate(device_, tensor.ref, task_, task_.problem.sizes);
    if (!made) return made.error();
    if (Status filled = values != nullptr ? made->upload(*values) : made->poison(); !filled) return filled;
    bindings.set(made->binding());
    tensors_.push_back(std::move(made).value());
    return success();
  }

  const schedule::Task& task_;
  const step::ForwardArguments<double>& arguments_;
  const step::LossGradients<double>& loss_;
  const runtime::Device& device_;
  std::vector<DeviceTensor> tensors_;
};

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
  round_all(gradients->params, kernel::Storage::F32);
  round_all(gradients->initial_states, kernel::Storage::F32);
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
                                    const runtime::LoadedPlan& forward_plan,
                                    const runtime::LoadedPlan& backward_plan) {
  BothPasses both(backward, arguments, loss, device);
  if (Status status = both.launch(forward_plan); !status) return status.error();
  if (Status status = both.launch(backward_plan); !status) return status.error();
  TrainingRun run;
  if (Status status = both.download(run); !status) return status.error();
  add_zeros(backward, run.gradients);
  return run;
}

}  // namespace rondo::engine
