#include "engine/data/host_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "compiler/kernel/simulator/simulate.h"
#include "compiler/scalar/storage.h"
#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/tensor_layout.h"
#include "compiler/support/parallel_for.h"
#include "compiler/support/split_mix.h"

namespace rondo::engine {

using kernel::Storage;
using schedule::Pass;
using schedule::Role;
using schedule::TensorRef;
using step::TensorKind;
using step::TensorMap;

namespace {

constexpr std::int64_t kWarmUpSteps = 8;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform() {  // in [-1, 1)
    state_ += kSplitMixStep;
    return static_cast<double>(split_mix(state_) >> 11) * 0x1p-52 - 1.0;
  }

 private:
  std::uint64_t state_;
};

// FNV-1a: a tensor's values follow its name, not its place in the cell.
std::uint64_t seed_for(const std::string& name, std::uint64_t seed) {
  std::uint64_t hash = 0xCBF29CE484222325u ^ (seed * kSplitMixStep);
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

double scale_of(const step::Tensor& tensor, const step::Sizes& sizes, const RandomOptions& options) {
  const double scale = random_scale(tensor, sizes);
  if (tensor.tail == step::Tail::Matrix) return options.matrix_scale * scale;
  const bool data = tensor.kind == TensorKind::Input || tensor.kind == TensorKind::Param;
  return data ? options.data_scale * scale : scale;
}

std::vector<double> values_for(TensorRef ref, const schedule::Task& task, const step::Sizes& sizes,
                               const RandomOptions& options) {
  const step::Tensor& tensor = task.written.tensor(ref.tensor);
  if (auto given = given_values(options.given, ref.role, tensor, sizes)) return std::move(*given);
  return random_numbers(task, ref, schedule::total_elements(ref, task.cell, sizes),
                        scale_of(tensor, sizes, options),
                        seed_for(schedule::name_of(ref, task.written), options.seed));
}

bool finite(const std::vector<double>& values) {
  for (const double value : values)
    if (!std::isfinite(value)) return false;
  return true;
}

// Of a problem that holds the states that are given, and none else.
Status reach_initial_states(const schedule::Task& task, HostProblem& data, const RandomOptions& options) {
  const TensorMap<double> given = data.forward.initial_states;
  if (given.size() == task.written.of_kind(TensorKind::State).size()) return success();
  RandomOptions others = options;
  ++others.seed;
  step::Sizes sizes = data.sizes;
  sizes.time = kWarmUpSteps;
  step::ForwardArguments<double> arguments = data.forward;
  // Every row walks through all of these steps.
  for (auto& [name, values] : arguments.flags) {
    const bool resets = task.written.tensor(*task.written.find(name)).kind == TensorKind::Reset;
    values.assign(static_cast<std::size_t>(sizes.batch * (resets ? sizes.time : 1)),
                  resets ? 0 : static_cast<double>(sizes.time));
  }
  for (const step::TensorId id : task.written.of_kind(TensorKind::Input))
    arguments.inputs[task.written.tensor(id).name] = values_for({Role::Input, id}, task, sizes, others);
  Result<step::ForwardResult<double>> reached = step::run_forward(task.written, sizes, arguments);
  if (!reached) return reached.error();
  for (auto& [name, values] : reached->last_states) {
    for (double& value : values)
      value = scalar::nearest(schedule::storage_of({Role::InitialState, -1}, task), value);
    if (!finite(values))
      return Error{ErrorKind::Input,
                   fmt::format("cell {}: state '{}' is not finite after {} steps of random inputs",
                               task.written.name, name, kWarmUpSteps),
                   fmt::format("the recurrence is unstable, or divides by a state that starts at zero: {}",
                               kOtherData)};
  }
  data.forward.initial_states = std::move(reached->last_states);
  for (const auto& [name, values] : given) data.forward.initial_states[name] = values;
  return success();
}

// What the data are, with the constants of the problem. They hold matrices, so they are copied, to `own`,
// only where they have other constants.
const step::ForwardArguments<double>& arguments_of(const schedule::Problem& problem, const HostProblem& data,
                                                   std::optional<step::ForwardArguments<double>>& own) {
  if (data.forward.constants == problem.constants) return data.forward;
  own = data.forward;
  own->constants = problem.constants;
  return *own;
}

// Products that pass from forward to backward, as outputs. They are from a run of their own: all else is by
// the cell as it is written.
void add_products(const schedule::Task& task, step::ForwardResult<double> of_products,
                  step::ForwardResult<double>& into) {
  for (const step::TensorId id : schedule::product_tensors(task.cell)) {
    const std::string name = schedule::product_output(task.cell.tensor(id));
    into.outputs[name] = std::move(of_products.outputs.at(name));
  }
}

Status run_perturbed_forward(const schedule::Task& task, const HostProblem& data,
                             const step::ForwardArguments<double>& arguments,
                             std::span<const step::Perturbation> perturbations, const TakeResult& take,
                             const step::RunOptions<double>& options) {
  auto forward = step::run_forward_perturbed(task.written, data.sizes, arguments, perturbations, options);
  if (!forward) return forward.error();
  std::vector<step::ForwardResult<double>> of_products;
  if (passes_products(task.problem)) {
    auto products = step::run_forward_perturbed(schedule::with_product_outputs(task.cell), data.sizes,
                                                arguments, perturbations, options);
    if (!products) return products.error();
    of_products = std::move(products).value();
  }
  for (std::size_t run = 0; run < forward->size(); ++run) {
    ReferenceResult result{std::move((*forward)[run]), {}};
    if (!of_products.empty()) add_products(task, std::move(of_products[run]), result.forward);
    take(run, result);
  }
  return success();
}

// Both passes of training: each run's backward pass has the states of its own forward pass.
Status run_perturbed_step(const schedule::Task& task, const HostProblem& data,
                          const step::ForwardArguments<double>& arguments,
                          std::span<const step::Perturbation> perturbations, const TakeResult& take,
                          step::RunOptions<double> options) {
  options.keep_history = true;
  for (std::size_t run = 0; run < perturbations.size(); ++run) {
    const auto one = perturbations.subspan(run, 1);
    auto forward = step::run_forward_perturbed(task.written, data.sizes, arguments, one, options);
    if (!forward) return forward.error();
    const Status status = step::run_backward_perturbed<double>(
        task.written, data.sizes, arguments, data.loss, forward->front().history, one,
        [&](std::size_t, step::BackwardResult<double> backward) {
          take(run, ReferenceResult{{}, std::move(backward)});
        },
        options);
    if (!status) return status;
  }
  return success();
}

void round_all(Storage storage, std::vector<double>& values) {
  for (double& value : values) value = scalar::nearest(storage, value);
}

// All but the products.
Result<ReferenceResult> run_passes(const schedule::Task& task, const HostProblem& data,
                                   const step::ForwardArguments<double>& arguments,
                                   const step::RunOptions<double>& options) {
  auto forward = step::run_forward(task.written, data.sizes, arguments, options);
  if (!forward) return forward.error();
  ReferenceResult result{std::move(forward).value(), {}};
  if (task.problem.pass != Pass::Backward) return result;
  if (data.stored_states)
    for (const step::TensorId id : task.cell.of_kind(TensorKind::State))
      round_all(task.history_storage(id), result.forward.history.at(task.cell.tensor(id).name));
  auto backward = step::run_backward_from(task.written, data.sizes, arguments, data.loss,
                                          result.forward.history, options);
  if (!backward) return backward.error();
  result.backward = std::move(backward).value();
  return result;
}

// Their name among the outputs of the reference.
std::string products_of(TensorRef ref, const step::Cell& cell) {
  return schedule::product_output(cell.tensor(ref.tensor));
}

const std::vector<double>* look_up(const TensorMap<double>& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

double random_scale(const step::Tensor& tensor, const step::Sizes& sizes) {
  if (tensor.kind != TensorKind::Param) return 1;
  const auto columns = static_cast<double>(step::columns(tensor, sizes));
  return tensor.tail == step::Tail::Matrix ? 1 / std::sqrt(columns) : 0.5;
}

std::vector<double> random_values(Storage storage, std::int64_t count, double scale, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = scalar::nearest(storage, random.uniform() * scale);
  return values;
}

namespace {

// Of a range whose ends are numbers of the storage type or beyond it.
double draw_in(const step::Interval& range, double uniform) {  // in [-1, 1)
  const double share = (uniform + 1) / 2;
  const bool from_low = std::isfinite(range.low), to_high = std::isfinite(range.high);
  if (from_low && to_high) return range.low + share * (range.high - range.low);
  if (!from_low && !to_high) return uniform;
  const double end = from_low ? range.low : range.high;
  const double distance = -std::log(1 - share) * std::max(1.0, std::abs(end));
  return from_low ? end + distance : end - distance;
}

}  // namespace

std::vector<double> random_values_in(const step::Interval& range, Storage storage, std::int64_t count,
                                     std::uint64_t seed) {
  constexpr int kDraws = 64;  // until one lies in the range once it is rounded
  Random random(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values)
    for (int draw = 0; draw < kDraws; ++draw) {
      value = scalar::nearest(storage, draw_in(range, random.uniform()));
      if (range.contains(value)) break;
    }
  return values;
}

std::vector<double> random_numbers(const schedule::Task& task, TensorRef ref, std::int64_t count,
                                   double scale, std::uint64_t seed) {
  const Storage storage = schedule::storage_of(ref, task);
  const step::Tensor& tensor = task.written.tensor(ref.tensor);
  const bool own = ref.role == Role::Input || ref.role == Role::Param || ref.role == Role::InitialState;
  const auto range = own ? step::range_of(task.written, tensor, task.problem.constants) : std::nullopt;
  return range ? random_values_in(*range, storage, count, seed) : random_values(storage, count, scale, seed);
}

std::vector<double> random_flags(const step::Tensor& tensor, const step::Sizes& sizes, std::uint64_t seed) {
  Random random(seed_for(tensor.name, seed));
  std::vector<double> values(static_cast<std::size_t>(step::element_count(tensor, sizes)));
  const auto time = static_cast<double>(sizes.time);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double drawn = (random.uniform() + 1) / 2;
    if (tensor.kind == TensorKind::Reset)
      values[i] = drawn < 0.125 ? 1 : 0;
    else
      values[i] = i == 0 ? time : std::min(time, std::floor(drawn * (time + 1)));
  }
  return values;
}

Result<HostProblem> random_problem(const schedule::Task& task, const step::Sizes& sizes,
                                   const RandomOptions& options) {
  HostProblem data;
  data.sizes = sizes;
  data.forward.constants = task.problem.constants;
  auto fill = [&](TensorKind kind, Role role, TensorMap<double>& into) {
    for (const step::TensorId id : task.written.of_kind(kind))
      into[task.written.tensor(id).name] = values_for({role, id}, task, sizes, options);
  };
  for (const step::Tensor& tensor : task.written.tensors)
    if (step::is_flag(tensor.kind))
      data.forward.flags[tensor.name] = random_flags(tensor, sizes, options.seed);
  fill(TensorKind::Input, Role::Input, data.forward.inputs);
  fill(TensorKind::Param, Role::Param, data.forward.params);
  fill(TensorKind::Output, Role::OutputGradient, data.loss.outputs);
  fill(TensorKind::State, Role::LastStateGradient, data.loss.last_states);
  step::fill_past_ends(task.written, sizes, std::numeric_limits<double>::quiet_NaN(), data.forward,
                       data.loss);
  if (options.initial_states && options.arbitrary_states)
    fill(TensorKind::State, Role::InitialState, data.forward.initial_states);
  for (const step::TensorId id : task.written.of_kind(TensorKind::State)) {
    const step::Tensor& state = task.written.tensor(id);
    if (auto given = given_values(options.given, Role::InitialState, state, sizes))
      data.forward.initial_states[state.name] = std::move(*given);
  }
  if (options.initial_states && !options.arbitrary_states)
    if (Status status = reach_initial_states(task, data, options); !status) return status.error();
  return data;
}

void store_states(const schedule::Task& task, HostProblem& data) {
  data.stored_states = true;
  for (const step::TensorId id : task.cell.of_kind(TensorKind::State))
    if (const auto first = data.forward.initial_states.find(task.cell.tensor(id).name);
        first != data.forward.initial_states.end())
      round_all(task.history_storage(id), first->second);
}

Result<ReferenceResult> run_reference(const schedule::Task& task, const HostProblem& data) {
  std::optional<step::ForwardArguments<double>> own;
  const step::ForwardArguments<double>& arguments = arguments_of(task.problem, data, own);
  const step::Matrices<double> matrices(task.written, data.sizes, arguments.params, false);
  step::RunOptions<double> options;
  options.keep_history = true;
  options.matrices = &matrices;
  std::optional<Result<ReferenceResult>> passes;
  std::optional<Result<step::ForwardResult<double>>> products;
  // Side by side: a run of few batch rows has no work for more than a core.
  const auto run = [&](std::int64_t i) {
    if (i == 0)
      passes = run_passes(task, data, arguments, options);
    else
      products = step::run_forward(schedule::with_product_outputs(task.cell), data.sizes, arguments, options);
  };
  parallel_for(passes_products(task.problem) ? 2 : 1, 0, [&]() -> Worker { return run; });
  if (!*passes) return *passes;
  ReferenceResult result = std::move(*passes).value();
  if (products) {
    if (!*products) return products->error();
    add_products(task, std::move(*products).value(), result.forward);
  }
  // What a forward pass hands to the backward pass is of the types in which it is stored.
  if (task.problem.pass == Pass::Backward && data.stored_states)
    for (auto& [name, values] : result.forward.outputs) round_all(task.problem.storage, values);
  return result;
}

Status run_perturbed(const schedule::Task& task, const HostProblem& data, const ReferenceResult& exact,
                     std::span<const step::Perturbation> perturbations, const TakeResult& take,
                     const step::Matrices<double>* matrices) {
  step::RunOptions<double> options;
  options.threads = 1;
  options.matrices = matrices;
  options.keep_history = task.problem.pass == Pass::ForwardSave;
  std::optional<step::ForwardArguments<double>> own;
  const step::ForwardArguments<double>& arguments = arguments_of(task.problem, data, own);
  if (task.problem.pass != Pass::Backward)
    return run_perturbed_forward(task, data, arguments, perturbations, take, options);
  if (data.erring_states) return run_perturbed_step(task, data, arguments, perturbations, take, options);
  return step::run_backward_perturbed<double>(
      task.written, data.sizes, arguments, data.loss, exact.forward.history, perturbations,
      [&](std::size_t run, step::BackwardResult<double> backward) {
        take(run, ReferenceResult{{}, std::move(backward)});
      },
      options);
}

const std::vector<double>* given_values(TensorRef ref, const step::Cell& cell, Pass pass,
                                        const HostProblem& data, const step::ForwardResult<double>& forward) {
  if (ref.tensor < 0) return nullptr;
  const std::string& name = cell.tensor(ref.tensor).name;
  const bool backward = pass == Pass::Backward;
  switch (ref.role) {
    case Role::Input: return look_up(data.forward.inputs, name);
    case Role::Param: return look_up(data.forward.params, name);
    case Role::Resets:
    case Role::Lengths: return look_up(data.forward.flags, name);
    case Role::InitialState: return look_up(data.forward.initial_states, name);
    case Role::Output: return backward ? look_up(forward.outputs, name) : nullptr;
    case Role::History: return backward ? look_up(forward.history, name) : nullptr;
    case Role::Products: return backward ? look_up(forward.outputs, products_of(ref, cell)) : nullptr;
    case Role::OutputGradient: return look_up(data.loss.outputs, name);
    case Role::LastStateGradient: return look_up(data.loss.last_states, name);
    default: return nullptr;
  }
}

const std::vector<double>* computed_values(TensorRef ref, const step::Cell& cell, Pass pass,
                                           const ReferenceResult& results) {
  if (ref.tensor < 0) return nullptr;
  const std::string& name = cell.tensor(ref.tensor).name;
  const bool backward = pass == Pass::Backward;
  switch (ref.role) {
    case Role::Output: return backward ? nullptr : look_up(results.forward.outputs, name);
    case Role::History: return backward ? nullptr : look_up(results.forward.history, name);
    case Role::Products: return backward ? nullptr : look_up(results.forward.outputs, products_of(ref, cell));
    case Role::LastState: return backward ? nullptr : look_up(results.forward.last_states, name);
    case Role::InputGradient: return look_up(results.backward.inputs, name);
    case Role::ParamGradient: return look_up(results.backward.params, name);
    case Role::InitialStateGradient: return look_up(results.backward.initial_states, name);
    default: return nullptr;
  }
}

}  // namespace rondo::engine
