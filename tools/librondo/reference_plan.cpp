#include "tools/librondo/reference_plan.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/support/index.h"
#include "engine/data/host_problem.h"
#include "engine/measure/measure.h"

namespace rondo::capi {

namespace {

using executable::Argument;
using executable::Executable;
using executable::Role;
using executable::Tensor;
using executable::TensorRef;
using schedule::Pass;
using step::TensorKind;

// Tensors that the backward step reads: of inputs, parameters and initial states only these are asked for.
std::set<step::TensorId> read_by_backward(const step::Cell& cell) {
  const schedule::BackwardNeeds needs = schedule::backward_needs(cell);
  std::set<step::TensorId> read(needs.inputs.begin(), needs.inputs.end());
  for (const step::NodeId id : schedule::reachable(needs.step.graph, schedule::roots_of(needs.step))) {
    const step::Node& node = needs.step.graph.at(id);
    if (node.kind == step::NodeKind::Leaf || step::reads_matrix(node)) read.insert(node.tensor);
  }
  return read;
}

std::vector<TensorRef> tensors_asked_for(const schedule::Task& task) {
  std::vector<TensorRef> tensors = engine::tensors_of_pass(task);
  if (task.problem.pass != Pass::Backward) return tensors;
  const std::set<step::TensorId> read = read_by_backward(task.cell);
  std::erase_if(tensors, [&](TensorRef ref) {
    return (ref.role == Role::Input || ref.role == Role::Param || ref.role == Role::InitialState) &&
           !read.contains(ref.tensor);
  });
  return tensors;
}

bool is_result(Role role, Pass pass) {
  switch (role) {
    case Role::Output:
    case Role::History:
    case Role::Products: return pass != Pass::Backward;
    case Role::LastState:
    case Role::InputGradient:
    case Role::ParamGradient:
    case Role::InitialStateGradient: return true;
    default: return false;
  }
}

// Rows of a tensor in its storage, strided in B and T.
struct Placed {
  std::byte* data = nullptr;
  executable::Strides strides;
};

class ReferenceSink final : public executable::LaunchSink {
 public:
  ReferenceSink(schedule::Task task, std::vector<Tensor> tensors)
      : task_(std::move(task)), tensors_(std::move(tensors)) {
    if (task_.problem.pass == Pass::Backward) needs_ = schedule::backward_needs(task_.cell);
  }

  Status fill(executable::Address pointer, std::int64_t bytes, float value,
              scalar::Storage storage) override {
    executable::fill_host(pointer, bytes, value, storage);
    return success();
  }
  Status copy(executable::Address target, executable::Address source, std::int64_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), at(bytes));
    return success();
  }

  // The arguments are those of reference_executable().
  Status launch(std::size_t, std::int64_t, std::span<void* const> arguments) override {
    std::size_t next = 0;
    const auto take = [&] {
      std::int64_t value = 0;
      std::memcpy(&value, arguments[next++], sizeof value);
      return value;
    };
    std::vector<Placed> places;
    for (const Tensor& tensor : tensors_) {
      Placed place{reinterpret_cast<std::byte*>(take()), {tensor.unit, tensor.unit}};
      if (executable::has_time_axis(tensor.ref.role)) place.strides = {take(), take()};
      places.push_back(place);
    }
    schedule::Problem problem = task_.problem;
    problem.sizes.batch = take();
    problem.sizes.time = take();
    return run(problem, places);
  }

 private:
  std::int64_t rows_of(const Tensor& tensor, const step::Sizes& sizes) const {
    return executable::role_info(tensor.ref.role).per_batch ? sizes.batch : 1;
  }
  std::int64_t steps_of(const Tensor& tensor, const step::Sizes& sizes) const {
    return executable::has_time_axis(tensor.ref.role) ? sizes.time : 1;
  }

  // Calls `body` with the memory of each element, in dense order.
  template <class Body>
  void each_element(const Tensor& tensor, const Placed& place, const step::Sizes& sizes, Body body) const {
    const std::int64_t element = scalar::storage_bytes(tensor.storage);
    for (std::int64_t b = 0; b < rows_of(tensor, sizes); ++b)
      for (std::int64_t t = 0; t < steps_of(tensor, sizes); ++t) {
        std::byte* row = place.data + (b * place.strides.b + t * place.strides.t) * element;
        for (std::int64_t i = 0; i < tensor.unit; ++i) body(row + i * element);
      }
  }

  std::vector<double> gather(const Tensor& tensor, const Placed& place, const step::Sizes& sizes) const {
    std::vector<double> values;
    values.reserve(at(tensor.unit * rows_of(tensor, sizes) * steps_of(tensor, sizes)));
    each_element(tensor, place, sizes,
                 [&](const std::byte* at) { values.push_back(scalar::decode(tensor.storage, at)); });
    return values;
  }

  const std::string& name_of(TensorRef ref) const { return task_.written.tensor(ref.tensor).name; }

  Status run(const schedule::Problem& problem, const std::vector<Placed>& places) const {
    engine::HostProblem data;
    data.sizes = problem.sizes;
    step::TensorMap<double> outputs, histories;  // given to a backward pass
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const Tensor& tensor = tensors_[i];
      if (tensor.written || tensor.ref.role == Role::Products) continue;
      step::TensorMap<double>* into = nullptr;
      switch (tensor.ref.role) {
        case Role::Input: into = &data.forward.inputs; break;
        case Role::Param: into = &data.forward.params; break;
        case Role::InitialState: into = &data.forward.initial_states; break;
        case Role::Resets:
        case Role::Lengths: into = &data.forward.flags; break;
        case Role::Output: into = &outputs; break;
        case Role::History: into = &histories; break;
        case Role::OutputGradient: into = &data.loss.outputs; break;
        case Role::LastStateGradient: into = &data.loss.last_states; break;
        default: continue;
      }
      (*into)[name_of(tensor.ref)] = gather(tensor, places[i], problem.sizes);
    }
    const Result<engine::ReferenceResult> result = problem.pass == Pass::Backward
                                                       ? backward(problem, data, outputs, histories)
                                                       : engine::run_reference(task_.with(problem), data);
    if (!result) return result.error();
    store(problem, *result, places);
    return success();
  }

  // From what the forward pass saved. What the gradients do not depend on may be anything: it is zero.
  Result<engine::ReferenceResult> backward(const schedule::Problem& problem, engine::HostProblem& data,
                                           const step::TensorMap<double>& outputs,
                                           const step::TensorMap<double>& histories) const {
    for (const step::Tensor& tensor : task_.written.tensors) {
      step::TensorMap<double>* map = tensor.kind == TensorKind::Input   ? &data.forward.inputs
                                     : tensor.kind == TensorKind::Param ? &data.forward.params
                                                                        : nullptr;
      if (map != nullptr && !map->contains(tensor.name))
        (*map)[tensor.name].resize(at(step::element_count(tensor, problem.sizes)));
    }
    step::ForwardArguments<double> arguments = data.forward;
    arguments.constants = problem.constants;
    Result<step::BackwardResult<double>> gradients = step::run_backward_from(
        task_.written, problem.sizes, arguments, data.loss, states(problem.sizes, outputs, histories));
    if (!gradients) return gradients.error();
    engine::ReferenceResult result;
    result.backward = std::move(gradients).value();
    return result;
  }

  // The states after each step, row by row from where they were saved.
  step::TensorMap<double> states(const step::Sizes& sizes, const step::TensorMap<double>& outputs,
                                 const step::TensorMap<double>& histories) const {
    step::TensorMap<double> result;
    for (const step::TensorId id : task_.written.of_kind(TensorKind::State))
      result[task_.written.tensor(id).name].resize(at(step::history_count(task_.written.tensor(id), sizes)));
    for (const auto& [state, saved] : needs_.history) {
      const step::Tensor& tensor = task_.written.tensor(state.first);
      const step::Tensor& source = task_.written.tensor(saved.tensor.tensor);
      const step::TensorMap<double>& map = saved.tensor.role == Role::Output ? outputs : histories;
      const std::vector<double>& from = map.at(source.name);
      std::vector<double>& to = result.at(tensor.name);
      const std::int64_t width = step::width(tensor, sizes), source_width = step::width(source, sizes);
      for (std::int64_t place = 0; place < sizes.batch * sizes.time * sizes.heads; ++place)
        for (std::int64_t i = 0; i < width; ++i)
          to[at((place * tensor.rows + state.second) * width + i)] =
              from[at((place * source.rows + saved.row) * source_width + std::min(i, source_width - 1))];
    }
    return result;
  }

  void store(const schedule::Problem& problem, const engine::ReferenceResult& result,
             const std::vector<Placed>& places) const {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const Tensor& tensor = tensors_[i];
      const std::vector<double>* values =
          tensor.written ? engine::computed_values(tensor.ref, task_.written, problem.pass, result) : nullptr;
      if (values == nullptr) continue;
      const double* next = values->data();
      each_element(tensor, places[i], problem.sizes,
                   [&](std::byte* at) { scalar::encode(tensor.storage, *next++, at); });
    }
  }

  schedule::Task task_;
  std::vector<Tensor> tensors_;
  schedule::BackwardNeeds needs_;  // of a backward pass
};

}  // namespace

Result<Executable> reference_executable(const schedule::Task& task) {
  Executable result;
  result.identity = schedule::identity_of(task, "reference", {});
  executable::Launch launch;
  launch.grid.blocks.fixed = 1;
  for (const TensorRef ref : tensors_asked_for(task)) {
    Result<Tensor> tensor = schedule::bound_tensor(ref, task, 1);
    if (!tensor) return tensor.error();
    tensor->written = is_result(ref.role, task.problem.pass);
    const auto index = static_cast<std::uint16_t>(result.tensors.size());
    launch.arguments.push_back({Argument::Kind::Pointer, 8, index});
    if (executable::has_time_axis(ref.role)) {
      launch.arguments.push_back({Argument::Kind::StrideB, 8, index});
      launch.arguments.push_back({Argument::Kind::StrideT, 8, index});
    }
    result.tensors.push_back(std::move(tensor).value());
  }
  launch.arguments.push_back({Argument::Kind::Batch, 8, 0});
  launch.arguments.push_back({Argument::Kind::Time, 8, 0});
  if (launch.arguments.size() > executable::kMaxArguments || result.tensors.size() > executable::kMaxTensors)
    return Error{ErrorKind::Unsupported, "cell " + task.written.name + " has too many tensors",
                 "join tensors of the cell into rows of one: x[4, D]"};
  result.kernels.push_back({"reference"});
  result.launches.push_back(std::move(launch));
  return result;
}

PlanFacts reference_facts() { return {"reference", "the reference executor on the CPU, in fp64", true, 0}; }

Result<std::unique_ptr<PlanObject>> reference_plan(std::shared_ptr<const Device> device,
                                                   const schedule::Task& task) {
  Result<Executable> executable = reference_executable(task);
  if (!executable) return executable.error();
  auto sink = std::make_shared<ReferenceSink>(task, executable->tensors);
  Result<std::unique_ptr<Work>> work = host_work(*executable, std::move(sink));
  if (!work) return work.error();
  return make_plan(std::move(device), executable->identity, std::move(work).value(), reference_facts());
}

}  // namespace rondo::capi
