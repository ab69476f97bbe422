#include "tests/schedule/shoot/study.h"

namespace rondo::schedule {

namespace {

using step::TensorId;
using step::TensorKind;

// The certificate's share of the state's size is one constant of the kernel, the squared deviations of
// rounding another.
void set_tolerance(kernel::Kernel& kernel, double from, double to) {
  int changed = 0;
  for (kernel::Expr& expression : kernel.expressions) {
    auto* constant = std::get_if<kernel::FloatConst>(&expression.node);
    if (constant != nullptr && constant->value == from)
      constant->value = to, ++changed;
    else if (constant != nullptr && constant->value == kShootDeviations * kShootDeviations)
      constant->value *= to / from * (to / from);
  }
  ASSERT_GE(changed, 1);
}

template <class Real>
step::TensorMap<Real> narrowed(const step::TensorMap<double>& values) {
  step::TensorMap<Real> result;
  for (const auto& [name, all] : values) result[name] = std::vector<Real>(all.begin(), all.end());
  return result;
}

struct Data {
  step::ForwardArguments<double> exact;
  TensorValues given;
};

Data draw(const Study& s, const step::Sizes& sizes) {
  std::mt19937 rng(7);
  std::normal_distribution<double> normal;
  Data data;
  const auto put = [&](step::TensorMap<double>& map, Role role, TensorId id,
                       const std::function<double(std::int64_t)>& value) {
    const step::Tensor& tensor = s.cell.tensors[static_cast<std::size_t>(id)];
    std::vector<double> values(static_cast<std::size_t>(step::element_count(tensor, sizes)));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(static_cast<float>(value(static_cast<std::int64_t>(i))));
    data.given[{role, id}] = values;
    map[tensor.name] = std::move(values);
  };
  for (const TensorId id : s.cell.of_kind(TensorKind::Input)) {
    const step::Tensor& tensor = s.cell.tensors[static_cast<std::size_t>(id)];
    const bool per_head = tensor.tail == step::Tail::Scalar;
    const std::int64_t rows = tensor.rows, channels = per_head ? 1 : sizes.dim;
    put(data.exact.inputs, Role::Input, id, [&](std::int64_t i) {
      const double bias = !per_head && i / channels % rows == 0 ? s.gate_bias : 0;
      const double value = bias + normal(rng);
      return i / (channels * rows) == s.spoiled_step ? s.spoiled : value;
    });
  }
  for (const TensorId id : s.cell.of_kind(TensorKind::Param))
    put(data.exact.params, Role::Param, id,
        [&](std::int64_t i) { return s.param ? s.param(i % sizes.dim) : s.weights * normal(rng); });
  for (const TensorId id : s.cell.of_kind(TensorKind::State))
    put(data.exact.initial_states, Role::InitialState, id, [&](std::int64_t) { return 0.1 * normal(rng); });
  return data;
}

}  // namespace

Outcome study(const Study& s) {
  Problem problem;
  problem.sizes = {1, s.time, 1, s.dim};
  problem.storage = s.storage;
  problem.math = kernel::Math::Accurate;
  const Data data = draw(s, problem.sizes);
  Parameters point = shoot_point(problem, s.team, 1, s.warmup, s.newton, s.sweeps);
  if (s.team.exchange != 2) point["keep_inputs"] = s.keep_inputs;
  if (point["keep_inputs"] == 1)
    point["stages"] =
        s.time / (s.team.segments * s.team.time_split * point["steps"]) + s.warmup / point["steps"];
  KernelPlan plan = point_plan(*find_strategy("shoot"), s.cell, problem, point);
  kernel::Kernel& kernel = plan.launches.back().kernel;
  if (s.tolerance > 0) set_tolerance(kernel, shoot_tolerance({s.cell, problem, {}}), s.tolerance);
  if (s.damage) s.damage(kernel);
  kernel::SimulationOptions options;
  options.fp64 = s.fp64;
  const SimulatedRun run = simulate_plan({s.cell, problem, {}}, plan, data.given, 0, options);
  Outcome outcome;
  outcome.faults = run.faults;
  outcome.launches = run.launches;
  outcome.tolerance = s.tolerance > 0 ? s.tolerance : shoot_tolerance({s.cell, problem, {}});
  outcome.convergence = executable::convergence_of(run.report);
  const auto truth =
      step::run_forward(s.cell, problem.sizes, data.exact, step::RunOptions<double>{1, true, nullptr});
  step::ForwardArguments<float> arguments32;
  arguments32.inputs = narrowed<float>(data.exact.inputs);
  arguments32.params = narrowed<float>(data.exact.params);
  arguments32.initial_states = narrowed<float>(data.exact.initial_states);
  step::RunOptions<float> one_thread;
  one_thread.threads = 1;
  const auto plain = step::run_forward(s.cell, problem.sizes, arguments32, one_thread);
  EXPECT_TRUE(truth && plain);
  const TensorId out = s.cell.of_kind(TensorKind::Output).front();
  const step::Tensor& tensor = s.cell.tensors[static_cast<std::size_t>(out)];
  const std::vector<double>& want = truth->outputs.at(tensor.name);
  const std::vector<float>& loop = plain->outputs.at(tensor.name);
  const std::vector<double>& got = run.written.at({Role::Output, out});
  std::vector<double> size(static_cast<std::size_t>(s.dim), 1e-30);
  outcome.error.assign(size.size(), 0);
  outcome.plain.assign(size.size(), 0);
  for (std::size_t i = 0; i < want.size(); ++i) {
    const std::size_t c = i % size.size();
    if (std::isnan(got[i]) != std::isnan(static_cast<double>(loop[i])) ||
        std::isinf(got[i]) != std::isinf(loop[i]))
      outcome.same_places = false;
    if (!std::isfinite(want[i])) continue;
    size[c] = std::max(size[c], std::abs(want[i]));
    outcome.error[c] = std::max(outcome.error[c], std::abs(got[i] - want[i]));
    outcome.plain[c] = std::max(outcome.plain[c], std::abs(static_cast<double>(loop[i]) - want[i]));
  }
  for (std::size_t c = 0; c < size.size(); ++c) outcome.error[c] /= size[c], outcome.plain[c] /= size[c];
  return outcome;
}

}  // namespace rondo::schedule
