#include "tests/engine/check/simulated_shape.h"

#include <algorithm>

#include "compiler/scalar/storage.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/tensor_layout.h"

namespace rondo::engine {

using schedule::Role;
using schedule::TensorRef;
using schedule::TensorValues;

SimulatedShape::SimulatedShape(const step::Cell& cell, const schedule::Problem& problem,
                               schedule::KernelPlan kernel, PlainPlans plain)
    : cell_(cell), problem_(problem), kernel_(std::move(kernel)), plain_(std::move(plain)) {
  const PlainPlan& same = plain_.same;
  tensors_ = shape_tensors({cell, problem, {}}, schedule::lower_plan({cell, problem, {}}, kernel_)->tensors,
                           schedule::lower_plan(same.task, same.plan)->tensors);
}

Status SimulatedShape::fill(Side side, TensorRef tensor, std::span<const double> values) {
  schedule::Problem of_side = problem_;
  if (side == Side::Plain) of_side.storage = kernel::Storage::F32;
  const kernel::Storage storage = schedule::storage_of(tensor, {cell_, of_side, {}});
  std::vector<double>& into = values_[side][tensor];
  into.resize(static_cast<std::size_t>(schedule::total_elements(tensor, cell_, problem_.sizes)));
  for (std::size_t i = 0; i < into.size(); ++i)
    into[i] = static_cast<double>(scalar::round_to(storage, static_cast<float>(values[i % values.size()])));
  return success();
}

TensorValues SimulatedShape::simulate(const schedule::Task& task, const schedule::KernelPlan& plan,
                                      const TensorValues& given) {
  schedule::SimulatedRun run = schedule::simulate_plan(task, plan, given);
  for (const std::string& fault : run.faults) faults.push_back(plan.strategy + ": " + fault);
  return std::move(run.written);
}

Status SimulatedShape::reach_initial_states(std::int64_t steps) {
  const PlainPlan& forward = plain_.forward ? *plain_.forward : plain_.same;
  schedule::Problem few = forward.task.problem;
  few.sizes.time = steps;
  TensorValues given;
  for (const auto& [ref, values] : values_[Side::Plain]) {
    if (ref.role == Role::Param) given[ref] = values;
    if (ref.role != Role::Input) continue;
    const auto row = values.size() / static_cast<std::size_t>(problem_.sizes.batch);
    const auto part = row / static_cast<std::size_t>(problem_.sizes.time) * static_cast<std::size_t>(steps);
    for (std::size_t first = 0; first < values.size(); first += row)
      given[ref].insert(given[ref].end(), values.begin() + static_cast<std::ptrdiff_t>(first),
                        values.begin() + static_cast<std::ptrdiff_t>(first + part));
  }
  for (const auto& [ref, values] : simulate({cell_, few, {}}, forward.plan, given))
    if (ref.role == Role::LastState)
      for (const Side side : {Side::Kernel, Side::Plain})
        values_[side][{Role::InitialState, ref.tensor}] = values;
  return success();
}

Status SimulatedShape::save() {
  const TensorValues left =
      simulate({cell_, plain_.forward->task.problem, {}}, plain_.forward->plan, values_[Side::Plain]);
  for (const ShapeTensor& tensor : tensors_) {
    if (tensor.computed || tensor.random || tensor.ref.role == Role::InitialState) continue;
    std::vector<double> values = left.at(tensor.ref);
    for (double& value : values)
      value = static_cast<double>(scalar::round_to(problem_.storage, static_cast<float>(value)));
    for (const Side side : {Side::Kernel, Side::Plain}) values_[side][tensor.ref] = values;
  }
  return success();
}

Status SimulatedShape::run(Side side) {
  if (side == Side::Plain) return run_plain(plain_.same);
  ++kernel_runs;
  for (auto& [ref, values] : simulate({cell_, problem_, {}}, kernel_, values_[Side::Kernel])) {
    values_[Side::Kernel][ref] = values;
    if (plant) plant(ref, values_[Side::Kernel][ref]);
  }
  return success();
}

Status SimulatedShape::run_perturbed(double seed, double amplitude) {
  if (plain_.forward)
    for (auto& [ref, values] :
         simulate({cell_, plain_.forward->task.problem, {}}, plain_.forward->plan, values_[Side::Plain]))
      values_[Side::Plain][ref] = values;
  const TensorRef more{Role::Param, static_cast<step::TensorId>(cell_.tensors.size())};
  std::vector<double>& numbers = values_[Side::Plain][more];
  numbers.assign(static_cast<std::size_t>(2 * problem_.sizes.heads), seed);
  for (std::size_t i = 1; i < numbers.size(); i += 2) numbers[i] = amplitude;
  const Status status = run_plain(plain_.perturbed);
  values_[Side::Plain].erase(more);
  return status;
}

Status SimulatedShape::run_plain(const PlainPlan& plan) {
  ++plain_runs;
  for (auto& [ref, values] : simulate(plan.task, plan.plan, values_[Side::Plain]))
    values_[Side::Plain][ref] = values;
  return success();
}

Status SimulatedShape::read(Side side, TensorRef tensor, std::span<const std::int64_t> rows,
                            std::span<double> into) {
  const std::vector<double>& values = values_[side].at(tensor);
  const std::size_t unit = into.size() / rows.size();
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < unit; ++i)
      into[r * unit + i] = static_cast<float>(values.at(static_cast<std::size_t>(rows[r]) * unit + i));
  return success();
}

}  // namespace rondo::engine
