#include "engine/service/run_cell.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/step/ranges.h"
#include "engine/plan/device_tensor.h"

namespace rondo::engine {

using schedule::Role;

namespace {

// The array of a tensor; null for a state that is zero, and for what is no array of numbers.
const NpyArray* given(schedule::TensorRef ref, const std::string& name, const RunArrays& arrays) {
  const std::vector<NamedArray>* all = ref.role == Role::Input          ? &arrays.inputs
                                       : ref.role == Role::Param        ? &arrays.params
                                       : ref.role == Role::InitialState ? &arrays.states
                                                                        : nullptr;
  if (all == nullptr) return nullptr;
  const auto found = std::ranges::find_if(*all, [&](const NamedArray& entry) { return entry.name == name; });
  return found == all->end() ? nullptr : &found->array;
}

// The tensors of one launch in the device's memory.
struct DeviceTensors {
  std::vector<DeviceTensor> all;
  runtime::Memory workspace;
  runtime::Bindings bindings;
};

Result<DeviceTensors> upload(const schedule::Task& task, const runtime::Device& device,
                             const runtime::LoadedPlan& plan, const RunArrays& arrays) {
  const Result<step::TensorMap<double>> flags = flags_of(arrays);
  if (!flags) return flags.error();
  DeviceTensors tensors;
  for (const executable::Tensor& tensor : plan.tensors()) {
    if (schedule::is_internal(tensor.ref.role)) continue;
    const std::string& name = task.written.tensor(tensor.ref.tensor).name;
    const NpyArray* array = given(tensor.ref, name, arrays);
    const bool flag = tensor.ref.role == Role::Resets || tensor.ref.role == Role::Lengths;
    if (array == nullptr && !flag && !tensor.written) continue;  // an initial state as the cell says
    Result<DeviceTensor> made = DeviceTensor::allocate(device, tensor.ref, task, task.problem.sizes);
    if (!made) return made.error();
    const auto encode = [&](std::int64_t first, std::span<std::byte> into) {
      encode_elements(*array, made->storage(), first, into);
    };
    const Status filled = array != nullptr ? made->upload(DeviceTensor::Encode(encode))
                          : flag           ? made->upload(flags->at(name))
                                           : made->poison();
    if (!filled) return filled.error();
    tensors.bindings.set(made->binding());
    tensors.all.push_back(std::move(made).value());
  }
  const std::int64_t bytes = plan.workspace_bytes(task.problem.sizes.batch, task.problem.sizes.time);
  Result<runtime::Memory> workspace = device.allocate(static_cast<std::size_t>(bytes));
  if (!workspace) return workspace.error();
  tensors.workspace = std::move(workspace).value();
  if (bytes > 0) tensors.bindings.set_workspace(tensors.workspace.address(), bytes);
  return tensors;
}

Result<CellRun> download(const step::Cell& cell, const DeviceTensors& tensors) {
  CellRun run;
  for (const DeviceTensor& tensor : tensors.all) {
    const Role role = tensor.ref().role;
    if (role != Role::Output && role != Role::LastState) continue;
    Result<ReadBack> result = tensor.download();
    if (!result) return result.error();
    if (result->unwritten > 0)
      return Error{ErrorKind::Wrong, fmt::format("the kernel left {} elements of '{}' unwritten",
                                                 result->unwritten, tensor.name())};
    const std::string& name = cell.tensor(tensor.ref().tensor).name;
    (role == Role::Output ? run.outputs : run.last_states)[name] = std::move(result->values);
  }
  return run;
}

}  // namespace

Result<CellRun> run_on_reference(const schedule::Task& task,
                                 const step::ForwardArguments<double>& arguments) {
  step::ForwardArguments<double> with_constants = arguments;
  with_constants.constants = task.problem.constants;
  Result<step::ForwardResult<double>> result =
      step::run_forward(task.written, task.problem.sizes, with_constants);
  if (!result) return result.error();
  CellRun run{std::move(result->outputs), std::move(result->last_states), {}, ""};
  for (auto& [name, values] : run.outputs)
    for (double& value : values) value = scalar::nearest(task.problem.storage, value);
  for (auto& [name, values] : run.last_states)
    for (double& value : values) value = scalar::nearest(scalar::computed_in(task.problem.storage), value);
  return run;
}

CellRun run_of_nothing(const schedule::Task& task, const step::ForwardArguments<double>& arguments) {
  CellRun run;
  for (const step::TensorId id : task.written.of_kind(step::TensorKind::Output))
    run.outputs[task.written.tensor(id).name] = {};
  for (const step::TensorId id : task.written.of_kind(step::TensorKind::State)) {
    const step::Tensor& state = task.written.tensor(id);
    const auto first = arguments.initial_states.find(state.name);
    std::vector<double>& last = run.last_states[state.name];
    if (first != arguments.initial_states.end()) last = first->second;
    const double begins = step::first_of(task.written, state, task.problem.constants);
    last.resize(static_cast<std::size_t>(step::element_count(state, task.problem.sizes)),
                static_cast<double>(static_cast<float>(begins)));
  }
  run.where = "nothing: it has no element";
  return run;
}

Result<CellRun> run_on_device(const schedule::Task& task, const RunArrays& arrays,
                              const runtime::Device& device, const runtime::LoadedPlan& plan) {
  const Result<DeviceTensors> tensors = upload(task, device, plan, arrays);
  if (!tensors) return tensors.error();
  const step::Sizes& sizes = task.problem.sizes;
  if (Status status = plan.launch(tensors->bindings, sizes.batch, sizes.time); !status) return status.error();
  if (Status status = device.wait(); !status) return status.error();
  if (Status status = plan.check(); !status) return status.error();
  Result<CellRun> run = download(task.written, *tensors);
  if (!run) return run;
  auto convergence = plan.convergence(tensors->workspace, sizes.batch, sizes.time);
  if (!convergence) return convergence.error();
  run->convergence = *convergence;
  return run;
}

}  // namespace rondo::engine
