// Runs a plan in the simulator against the fp64 reference: a forward pass with saved states, then the
// backward pass over what it saved; where the strategy has none, that of the first one that does.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/simulate_plan.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/reference/executor.h"
#include "compiler/step/simplify.h"
#include "tests/schedule/first_point.h"
#include "tests/schedule/point_plan.h"
#include "tests/target/board.h"

namespace rondo::schedule {

using kernel::Storage;
using step::TensorId;
using step::TensorKind;

// With Math::Tf32 the matrices are rounded too (Comparison::draw_arguments).
inline step::RunOptions<float> plain_loop(Storage storage, kernel::Math math) {
  step::RunOptions<float> options;
  options.threads = 1;
  options.round_state = scalar::round_state_of(storage);
  options.round_product = options.round_state;
  if (math == kernel::Math::Tf32) options.round_vector = scalar::round_tf32;
  return options;
}

struct Case {
  const Strategy* strategy = nullptr;
  step::Cell cell;
  Problem problem;
  Parameters parameters;
  Parameters backward;  // empty: the same
  // Initial states that some steps reach, not any numbers: a state may be a normaliser, which nothing near
  // zero is.
  bool reached_states = false;
  double matrix_scale = 1;  // of the matrices, whose spectral norm is about 1.2 otherwise
  // The runner computes in fp64: what is compared is the method, which must agree with the reference but for
  // the rounding of what is stored between passes (measured: 1.0e-6 at most, in 100 random cells).
  bool in_fp64 = false;
  step::TensorMap<double> flags = {};  // resets and lengths by name; those that are not here are drawn
  target::Target cpus = {target::Target::Kind::X86_64, 3};  // of a strategy for CPUs
  // How a plan is run: in the simulator, unless a test has something else.
  std::function<SimulatedRun(const Task&, const KernelPlan&, const TensorValues&, int pad)> runner =
      [](const Task& task, const KernelPlan& plan, const TensorValues& values, int pad) {
        return simulate_plan(task, plan, values, pad);
      };
  // On a board, or on CPUs if the strategy is for them.
  Task task() const {
    const target::Profile board = target::board();
    return {cell, problem, strategy->serves(board).legal ? board : target::host_profile(cpus)};
  }
  std::string name() const {
    return strategy->name() + " " + cell.name + " B=" + std::to_string(problem.sizes.batch) +
           " T=" + std::to_string(problem.sizes.time) + " H=" + std::to_string(problem.sizes.heads) +
           " D=" + std::to_string(problem.sizes.dim) + " " + kernel::storage_name(problem.storage) + " " +
           kernel::math_name(problem.math) + " " + (problem.save_products ? "products saved " : "") +
           print(parameters);
  }
};

inline std::vector<double> draw(std::mt19937& rng, std::int64_t count, double scale, Storage storage) {
  std::uniform_real_distribution<double> uniform(-scale, scale);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& v : values) v = scalar::nearest(storage, uniform(rng));
  return values;
}

inline double norm_error(const std::vector<double>& got, const std::vector<double>& want) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    error += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  return size == 0 ? std::sqrt(error) : std::sqrt(error / size);
}

// What kernels in fp64 may differ by from the reference, which rounds to it, too.
inline constexpr double kInDouble = 1e-12;

// Runs one case: reference in fp64, a plain loop in the storage type, and the simulated kernels.
class Comparison {
 public:
  explicit Comparison(Case c) : case_(std::move(c)), rng_(20240607) {}

  void run() {
    draw_arguments();
    if (case_.reached_states) reach_states();
    const auto truth = run_forward(case_.cell, case_.problem.sizes, arguments_, options64());
    const auto plain = run_forward(case_.cell, case_.problem.sizes, arguments32_, with_history());
    ASSERT_TRUE(truth) << truth.error().message;
    ASSERT_TRUE(plain) << plain.error().message;
    case_.problem.pass = Pass::ForwardSave;
    const SimulatedRun forward = simulate();
    for (const TensorId id : case_.cell.of_kind(TensorKind::Output))
      compare(forward, {Role::Output, id}, truth->outputs, plain->outputs);
    for (const TensorId id : case_.cell.of_kind(TensorKind::State))
      compare(forward, {Role::LastState, id}, truth->last_states, plain->last_states);
    for (const TensorId id : stored_histories(step::simplify(case_.cell)))
      compare(forward, {Role::History, id}, truth->history, plain->history);
    if (passes_products(case_.problem)) compare_products(forward);
    for (const auto& [ref, values] : forward.written)
      if (ref.role != Role::LastState) given_[ref] = values;
    backward();
  }

 private:
  void backward() {
    const auto truth = run_backward(case_.cell, case_.problem.sizes, arguments_, loss_, options64());
    const auto plain = run_backward(case_.cell, case_.problem.sizes, arguments32_, loss32_,
                                    plain_loop(case_.problem.storage, case_.problem.math));
    ASSERT_TRUE(truth) << truth.error().message;
    ASSERT_TRUE(plain) << plain.error().message;
    case_.problem.pass = Pass::Backward;
    if (!case_.strategy->legal(case_.task()).legal) hand_over();
    if (!case_.backward.empty()) case_.parameters = case_.backward;
    const SimulatedRun run = simulate();
    for (const TensorId id : case_.cell.of_kind(TensorKind::Input))
      compare(run, {Role::InputGradient, id}, truth->inputs, plain->inputs,
              rounded_gradients(id, &step::BackwardResult<double>::inputs));
    for (const TensorId id : case_.cell.of_kind(TensorKind::Param))
      compare(run, {Role::ParamGradient, id}, truth->params, plain->params,
              rounded_gradients(id, &step::BackwardResult<double>::params));
    for (const TensorId id : case_.cell.of_kind(TensorKind::State))
      compare(run, {Role::InitialStateGradient, id}, truth->initial_states, plain->initial_states,
              rounded_gradients(id, &step::BackwardResult<double>::initial_states));
    if (passes_products(case_.problem)) compare_multiplied_again(run);
  }

  // The gradient of a tensor in several runs in which every rounding errs at random; nothing where it has
  // more than a few numbers, unless each is a sum over a head's channels, which cancel.
  using Gradients = step::TensorMap<double> step::BackwardResult<double>::*;
  std::vector<std::vector<double>> rounded_gradients(TensorId id, Gradients of) const {
    constexpr std::int64_t kFewNumbers = 8;
    constexpr std::uint64_t kRuns = 8;
    const step::Tensor& tensor = case_.cell.tensors[static_cast<std::size_t>(id)];
    std::vector<std::vector<double>> gradients;
    const bool few = step::element_count(tensor, case_.problem.sizes) <= kFewNumbers;
    if (!few && tensor.tail != step::Tail::Scalar) return gradients;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
      step::Perturbation errors{seed, 1, case_.problem.math == kernel::Math::Fast, case_.problem.storage};
      if (case_.problem.math == kernel::Math::Tf32) errors.product = 0x1p-11;  // half a unit of tf32
      auto options = options64();
      options.perturbation = &errors;
      const auto run = run_backward(case_.cell, case_.problem.sizes, arguments_, loss_, options);
      EXPECT_TRUE(run) << run.error().message;
      if (run) gradients.push_back(((*run).*of).at(tensor.name));
    }
    return gradients;
  }

  void hand_over() {
    for (const Strategy* other : strategies()) {
      if (!other->legal(case_.task()).legal) continue;
      case_.strategy = other;
      case_.backward = first_point(*other, case_.cell, case_.problem);
      return;
    }
    FAIL() << "no strategy has a backward pass for " << case_.name();
  }

  // By the cell with the products as outputs.
  void compare_products(const SimulatedRun& forward) {
    const step::Cell cell = with_product_outputs(step::simplify(case_.cell));
    const auto truth = run_forward(cell, case_.problem.sizes, arguments_, options64());
    const auto plain = run_forward(cell, case_.problem.sizes, arguments32_, with_history());
    ASSERT_TRUE(truth) << truth.error().message;
    ASSERT_TRUE(plain) << plain.error().message;
    ASSERT_FALSE(product_tensors(case_.cell).empty());
    for (const TensorId id : product_tensors(case_.cell))
      compare(forward, {Role::Products, id}, truth->outputs, plain->outputs);
  }

  // Gradients over the same saved states, with products multiplied again: apart by no more than either
  // may be off.
  void compare_multiplied_again(const SimulatedRun& with_saved) {
    case_.problem.save_products = false;
    const SimulatedRun again = simulate();
    ASSERT_EQ(again.written.size(), with_saved.written.size());
    for (const auto& [ref, values] : again.written)
      EXPECT_LE(norm_error(with_saved.written.at(ref), values), allowed_.at(ref))
          << case_.name() << ": " << name_of(ref, case_.cell) << " depends on what is saved";
  }

  void draw_arguments() {
    for (TensorId id = 0; id < static_cast<TensorId>(case_.cell.tensors.size()); ++id) {
      const step::Tensor& tensor = case_.cell.tensors[static_cast<std::size_t>(id)];
      const std::int64_t count = step::element_count(tensor, case_.problem.sizes);
      const Storage storage = case_.problem.storage;
      switch (tensor.kind) {
        case TensorKind::Input:
          put(arguments_.inputs, arguments32_.inputs, {Role::Input, id}, draw(rng_, count, 1.5, storage));
          break;
        case TensorKind::Param: {
          const bool matrix = tensor.tail == step::Tail::Matrix;
          const double scale =
              matrix ? case_.matrix_scale / std::sqrt(static_cast<double>(case_.problem.sizes.dim)) : 0.5;
          put(arguments_.params, arguments32_.params, {Role::Param, id},
              draw(rng_, count, scale, matrix ? storage : scalar::computed_in(storage)));
          if (matrix && case_.problem.math == kernel::Math::Tf32)
            for (float& value : arguments32_.params.at(tensor.name)) value = scalar::round_tf32(value);
          break;
        }
        case TensorKind::State:
          put(arguments_.initial_states, arguments32_.initial_states, {Role::InitialState, id},
              draw(rng_, count, 0.5, scalar::computed_in(storage)));
          put(loss_.last_states, loss32_.last_states, {Role::LastStateGradient, id},
              draw(rng_, count, 1, scalar::computed_in(storage)));
          break;
        case TensorKind::Reset:
          put_flags(id, Role::Resets, [&](std::int64_t) { return rng_() % 3 == 0 ? 1 + rng_() % 255 : 0; });
          break;
        case TensorKind::Length:
          put_flags(id, Role::Lengths, [&](std::int64_t row) { return length_of(row); });
          break;
        case TensorKind::Output:
          put(loss_.outputs, loss32_.outputs, {Role::OutputGradient, id}, draw(rng_, count, 1, storage));
          break;
      }
    }
    spoil_past_ends();
  }

  // Past the end of a row inputs and gradients of outputs may be anything.
  void spoil_past_ends() {
    if (!case_.cell.first_of_kind(TensorKind::Length)) return;
    step::fill_past_ends(case_.cell, case_.problem.sizes, std::numeric_limits<double>::quiet_NaN(),
                         arguments_, loss_);
    const auto put_again = [&](TensorKind kind, Role role, auto& map, auto& map32) {
      for (const TensorId id : case_.cell.of_kind(kind)) {
        std::vector<double> values = map.at(case_.cell.tensors[static_cast<std::size_t>(id)].name);
        put(map, map32, {role, id}, std::move(values));
      }
    };
    put_again(TensorKind::Input, Role::Input, arguments_.inputs, arguments32_.inputs);
    put_again(TensorKind::Output, Role::OutputGradient, loss_.outputs, loss32_.outputs);
  }

  // Of the first rows 0, 1, T and more than T; then any.
  std::int64_t length_of(std::int64_t row) {
    const std::int64_t time = case_.problem.sizes.time;
    const std::int64_t first[] = {0, 1, time, time + 3};
    return row < 4 ? first[row] : static_cast<std::int64_t>(rng_() % static_cast<std::uint64_t>(time + 1));
  }

  void put_flags(TensorId id, Role role, const std::function<std::int64_t(std::int64_t)>& draw) {
    const step::Tensor& tensor = case_.cell.tensors[static_cast<std::size_t>(id)];
    const auto known = case_.flags.find(tensor.name);
    std::vector<double> values;
    for (std::int64_t i = 0; i < step::element_count(tensor, case_.problem.sizes); ++i)
      values.push_back(static_cast<double>(draw(i)));
    if (known != case_.flags.end()) values = known->second;
    put(arguments_.flags, arguments32_.flags, {role, id}, std::move(values));
  }

  void reach_states() {
    step::ForwardArguments<double> start = arguments_;
    start.initial_states.clear();
    // Every row walks through all of these steps.
    for (auto& [name, values] : start.flags)
      values.assign(static_cast<std::size_t>(case_.problem.sizes.batch * 4), name == "resets" ? 0 : 4);
    if (const auto lengths = start.flags.find("lengths"); lengths != start.flags.end())
      lengths->second.resize(static_cast<std::size_t>(case_.problem.sizes.batch));
    step::Sizes sizes = case_.problem.sizes;
    sizes.time = 4;
    for (const TensorId id : case_.cell.of_kind(TensorKind::Input)) {
      const step::Tensor& tensor = case_.cell.tensors[static_cast<std::size_t>(id)];
      start.inputs[tensor.name] = draw(rng_, step::element_count(tensor, sizes), 1.5, Storage::F32);
    }
    const auto reached = run_forward(case_.cell, sizes, start, options64());
    ASSERT_TRUE(reached) << reached.error().message;
    for (const TensorId id : case_.cell.of_kind(TensorKind::State)) {
      std::vector<double> values =
          reached->last_states.at(case_.cell.tensors[static_cast<std::size_t>(id)].name);
      for (double& v : values) v = static_cast<double>(static_cast<float>(v));
      put(arguments_.initial_states, arguments32_.initial_states, {Role::InitialState, id},
          std::move(values));
    }
  }

  void put(step::TensorMap<double>& map, step::TensorMap<float>& map32, TensorRef ref,
           std::vector<double> values) {
    const std::string& name = case_.cell.tensors[static_cast<std::size_t>(ref.tensor)].name;
    map32[name] = std::vector<float>(values.begin(), values.end());
    map[name] = values;
    given_[ref] = std::move(values);
  }

  SimulatedRun simulate() {
    const KernelPlan plan =
        schedule::point_plan(*case_.strategy, case_.cell, case_.problem, case_.parameters);
    const SimulatedRun run = case_.runner(case_.task(), plan, given_, 16);
    EXPECT_TRUE(run.faults.empty()) << case_.name() << ": " << run.faults.front();
    EXPECT_TRUE(run.unwritten.empty())
        << case_.name() << ": not all of " << run.unwritten.front() << " was written";
    return run;
  }

  // DESIGN section 8: at most 1.5 times the error of a plain loop in the storage type; where that loop is
  // right by luck (one step, one channel), the rounding of one stored value and of fp32 arithmetic is still
  // allowed, and what the runs of `rounded` differ by.
  void compare(const SimulatedRun& run, TensorRef ref, const step::TensorMap<double>& truth,
               const step::TensorMap<float>& plain, const std::vector<std::vector<double>>& rounded = {}) {
    const std::string name = tensor_in_role(ref, case_.cell).name;
    const std::vector<double>& want = truth.at(name);
    std::vector<double> loop(plain.at(name).begin(), plain.at(name).end());
    if (has_time_axis(ref.role))
      for (double& v : loop) v = scalar::round_to(case_.problem.storage, static_cast<float>(v));
    ASSERT_EQ(run.written.count(ref), 1u) << case_.name() << ": " << name;
    const double error = norm_error(run.written.at(ref), want);
    double by_rounding = 1.5 * norm_error(loop, want);
    for (const std::vector<double>& values : rounded)
      by_rounding = std::max(by_rounding, norm_error(values, want));
    // Also of a run in fp64, where a pass reads what the other stored in fp32; the plain loop may overflow
    // there.
    const double of_fp32 = 65 * std::exp2(-24);
    double allowed =
        case_.in_fp64 ? of_fp32 : by_rounding + scalar::unit_roundoff(case_.problem.storage) + of_fp32;
    if (case_.problem.storage == Storage::F64) allowed = kInDouble;
    allowed_[ref] = allowed;
    EXPECT_LE(error, allowed) << case_.name() << " " << pass_name(case_.problem.pass) << ": " << name
                              << ", role " << static_cast<int>(ref.role);
  }

  step::RunOptions<double> options64() const { return {1, true, nullptr}; }
  step::RunOptions<float> with_history() const {
    auto options = plain_loop(case_.problem.storage, case_.problem.math);
    options.keep_history = true;
    return options;
  }

  Case case_;
  std::mt19937 rng_;
  step::ForwardArguments<double> arguments_;
  step::ForwardArguments<float> arguments32_;
  step::LossGradients<double> loss_;
  step::LossGradients<float> loss32_;
  TensorValues given_;
  std::map<TensorRef, double, TensorRefLess> allowed_;  // the error of each result
};

}  // namespace rondo::schedule
