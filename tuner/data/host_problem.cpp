#include "tuner/data/host_problem.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "compiler/kernel/simulator/simulate.h"
#include "compiler/scalar/storage.h"
#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/tensor_layout.h"

namespace rondo::runtime {

using kernel::Storage;
using schedule::Pass;
using schedule::Role;
using schedule::TensorRef;
using step::TensorKind;
using step::TensorMap;

namespace {

constexpr std::int64_t kWarmUpSteps = 8;

// SplitMix64 (Steele, Lea, Flood 2014): tiny, and the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform() {  // in [-1, 1)
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) * 0x1p-52 - 1.0;
  }

 private:
  std::uint64_t state_;
};

// FNV-1a: a tensor's values follow its name, not its place in the cell.
std::uint64_t seed_for(const std::string& name, std::uint64_t seed) {
  std::uint64_t hash = 0xCBF29CE484222325u ^ (seed * 0x9E3779B97F4A7C15u);
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

double scale_of(const step::Tensor& tensor, const step::Sizes& sizes, const RandomOptions& options) {
  if (tensor.kind != TensorKind::Param) return 1;
  return tensor.tail == step::Tail::Matrix ? options.matrix_scale / std::sqrt(static_cast<double>(sizes.dim))
                                           : 0.5;
}

std::vector<double> values_for(TensorRef ref, const step::Cell& cell, const schedule::Problem& problem,
                               const step::Sizes& sizes, const RandomOptions& options) {
  const step::Tensor& tensor = cell.tensors[static_cast<std::size_t>(ref.tensor)];
  return random_values(schedule::storage_of(ref, cell, problem), schedule::total_elements(ref, cell, sizes),
                       scale_of(tensor, sizes, options),
                       seed_for(schedule::name_of(ref, cell), options.seed));
}

bool finite(const std::vector<double>& values) {
  for (const double value : values)
    if (!std::isfinite(value)) return false;
  return true;
}

Status reach_initial_states(const step::Cell& cell, const schedule::Problem& problem, HostProblem& data,
                            std::uint64_t seed) {
  step::Sizes sizes = data.sizes;
  sizes.time = kWarmUpSteps;
  step::ForwardArguments<double> arguments = data.forward;
  for (const step::TensorId id : cell.of_kind(TensorKind::Input))
    arguments.inputs[cell.tensors[static_cast<std::size_t>(id)].name] =
        values_for({Role::Input, id}, cell, problem, sizes, {.seed = seed + 1});
  Result<step::ForwardResult<double>> reached = step::run_forward(cell, sizes, arguments);
  if (!reached) return reached.error();
  for (auto& [name, values] : reached->last_states) {
    for (double& value : values) value = static_cast<double>(static_cast<float>(value));
    if (!finite(values))
      return Error{ErrorKind::Input,
                   fmt::format("cell {}: state '{}' is not finite after {} steps of random inputs", cell.name,
                               name, kWarmUpSteps),
                   "the recurrence is unstable, or divides by a state that starts at zero"};
  }
  data.forward.initial_states = std::move(reached->last_states);
  return success();
}

template <class Real>
TensorMap<Real> converted(const TensorMap<double>& from) {
  TensorMap<Real> result;
  for (const auto& [name, values] : from) result[name] = std::vector<Real>(values.begin(), values.end());
  return result;
}

// From a run of their own: all else is by the cell as it is written.
template <class Real>
Status add_products(const step::Cell& cell, const step::Sizes& sizes,
                    const step::ForwardArguments<Real>& arguments, const step::RunOptions<Real>& options,
                    step::ForwardResult<Real>& into) {
  Result<step::ForwardResult<Real>> run =
      step::run_forward(schedule::with_product_outputs(cell), sizes, arguments, options);
  if (!run) return run.error();
  for (const step::TensorId id : schedule::product_tensors(cell)) {
    const std::string name = schedule::product_output(cell.tensors[static_cast<std::size_t>(id)]);
    into.outputs[name] = std::move(run->outputs.at(name));
  }
  return success();
}

template <class Real>
Result<ReferenceResult<Real>> run(const step::Cell& cell, const schedule::Problem& problem,
                                  const HostProblem& data, const step::RunOptions<Real>& options) {
  step::ForwardArguments<Real> arguments;
  arguments.inputs = converted<Real>(data.forward.inputs);
  arguments.params = converted<Real>(data.forward.params);
  arguments.initial_states = converted<Real>(data.forward.initial_states);
  arguments.constants = problem.constants;
  ReferenceResult<Real> result;
  Result<step::ForwardResult<Real>> forward = step::run_forward(cell, data.sizes, arguments, options);
  if (!forward) return forward.error();
  result.forward = std::move(forward).value();
  if (passes_products(problem))
    if (Status status = add_products(cell, data.sizes, arguments, options, result.forward); !status)
      return status.error();
  if (problem.pass != Pass::Backward) return result;
  const step::LossGradients<Real> loss{converted<Real>(data.loss.outputs),
                                       converted<Real>(data.loss.last_states)};
  Result<step::BackwardResult<Real>> backward =
      step::run_backward(cell, data.sizes, arguments, loss, options);
  if (!backward) return backward.error();
  result.backward = std::move(backward).value();
  return result;
}

// As products in tf32 take them.
HostProblem with_rounded_matrices(const step::Cell& cell, HostProblem data) {
  for (const step::TensorId id : cell.of_kind(TensorKind::Param)) {
    const step::Tensor& tensor = cell.tensors[static_cast<std::size_t>(id)];
    if (tensor.tail != step::Tail::Matrix) continue;
    for (double& value : data.forward.params.at(tensor.name))
      value = static_cast<double>(scalar::round_tf32(static_cast<float>(value)));
  }
  return data;
}

// Their name among the outputs of the reference.
std::string products_of(TensorRef ref, const step::Cell& cell) {
  return schedule::product_output(cell.tensors[static_cast<std::size_t>(ref.tensor)]);
}

template <class Real>
const std::vector<Real>* look_up(const TensorMap<Real>& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

std::vector<double> random_values(Storage storage, std::int64_t count, double scale, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values)
    value = static_cast<double>(round_to(storage, static_cast<float>(random.uniform() * scale)));
  return values;
}

Result<HostProblem> random_problem(const step::Cell& cell, const schedule::Problem& problem,
                                   const step::Sizes& sizes, const RandomOptions& options) {
  HostProblem data;
  data.sizes = sizes;
  data.forward.constants = problem.constants;
  auto fill = [&](TensorKind kind, Role role, TensorMap<double>& into) {
    for (const step::TensorId id : cell.of_kind(kind))
      into[cell.tensors[static_cast<std::size_t>(id)].name] =
          values_for({role, id}, cell, problem, sizes, options);
  };
  fill(TensorKind::Input, Role::Input, data.forward.inputs);
  fill(TensorKind::Param, Role::Param, data.forward.params);
  fill(TensorKind::Output, Role::OutputGradient, data.loss.outputs);
  fill(TensorKind::State, Role::LastStateGradient, data.loss.last_states);
  if (options.initial_states)
    if (Status status = reach_initial_states(cell, problem, data, options.seed); !status)
      return status.error();
  return data;
}

Result<ReferenceResult<double>> run_reference(const step::Cell& cell, const schedule::Problem& problem,
                                              const HostProblem& data) {
  step::RunOptions<double> options;
  options.keep_history = true;
  return run<double>(cell, problem, data, options);
}

Result<ReferenceResult<float>> run_plain_loop(const step::Cell& cell, const schedule::Problem& problem,
                                              const HostProblem& data) {
  step::RunOptions<float> options;
  options.keep_history = true;
  options.round_state = round_state_of(problem.storage);
  options.round_product = options.round_state;
  const bool tf32 = problem.math == kernel::Math::Tf32;
  if (tf32) options.round_vector = scalar::round_tf32;
  Result<ReferenceResult<float>> result =
      run<float>(cell, problem, tf32 ? with_rounded_matrices(cell, data) : data, options);
  if (!result) return result;
  for (auto* stored : {&result->forward.outputs, &result->forward.history, &result->backward.inputs})
    for (auto& [name, values] : *stored)
      for (float& value : values) value = round_to(problem.storage, value);
  return result;
}

const std::vector<double>* given_values(TensorRef ref, const step::Cell& cell, Pass pass,
                                        const HostProblem& data, const step::ForwardResult<double>& forward) {
  if (ref.tensor < 0) return nullptr;
  const std::string& name = cell.tensors[static_cast<std::size_t>(ref.tensor)].name;
  const bool backward = pass == Pass::Backward;
  switch (ref.role) {
    case Role::Input: return look_up(data.forward.inputs, name);
    case Role::Param: return look_up(data.forward.params, name);
    case Role::InitialState: return look_up(data.forward.initial_states, name);
    case Role::Output: return backward ? look_up(forward.outputs, name) : nullptr;
    case Role::History: return backward ? look_up(forward.history, name) : nullptr;
    case Role::Products: return backward ? look_up(forward.outputs, products_of(ref, cell)) : nullptr;
    case Role::OutputGradient: return look_up(data.loss.outputs, name);
    case Role::LastStateGradient: return look_up(data.loss.last_states, name);
    default: return nullptr;
  }
}

template <class Real>
const std::vector<Real>* computed_values(TensorRef ref, const step::Cell& cell, Pass pass,
                                         const ReferenceResult<Real>& results) {
  if (ref.tensor < 0) return nullptr;
  const std::string& name = cell.tensors[static_cast<std::size_t>(ref.tensor)].name;
  const bool backward = pass == Pass::Backward;
  switch (ref.role) {
    case Role::Output: return backward ? nullptr : look_up(results.forward.outputs, name);
    case Role::History: return backward ? nullptr : look_up(results.forward.history, name);
    case Role::Products: return backward ? nullptr : look_up(results.forward.outputs, products_of(ref, cell));
    case Role::LastState: return look_up(results.forward.last_states, name);
    case Role::InputGradient: return look_up(results.backward.inputs, name);
    case Role::ParamGradient: return look_up(results.backward.params, name);
    case Role::InitialStateGradient: return look_up(results.backward.initial_states, name);
    default: return nullptr;
  }
}

template const std::vector<float>* computed_values(TensorRef, const step::Cell&, Pass,
                                                   const ReferenceResult<float>&);
template const std::vector<double>* computed_values(TensorRef, const step::Cell&, Pass,
                                                    const ReferenceResult<double>&);

}  // namespace rondo::runtime
