// A cell over small integers, linear where nothing else is said: every product, sum and gradient is exact in
// every type, so a fragment that lies in the wrong place cannot hide in rounding.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "compiler/frontend/frontend.h"
#include "compiler/schedule/plan/simulate_plan.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/clip.h"
#include "compiler/step/reference/executor.h"
#include "compiler/target/target.h"
#include "tests/schedule/point_plan.h"
#include "tests/target/board.h"

namespace rondo::schedule {

inline constexpr const char* kLinear = R"(
cell linear(D) {
  input x[2, D]
  param R[2, D, D]
  state h[D], k[D]

  g = R @ h
  next h = g[0] + x[0]
  next k = g[1] - k + x[1]
  output h, k
}
)";

// -1, 0 and 1; matrices sparse, so that values stay below 256, which bf16 holds exactly.
inline std::vector<double> integers(std::mt19937& rng, std::int64_t count, int out_of) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& v : values) {
    const auto draw = static_cast<int>(rng() % static_cast<unsigned>(out_of));
    v = draw == 0 ? 1 : draw == 1 ? -1 : 0;
  }
  return values;
}

struct ExactCell {
  const char* text = kLinear;  // exact over small integers
  bool save_products = false;
  step::Sizes sizes{5, 3, 2, 40};
  int pad = 16;  // unused elements after each step and batch row
};

class ExactCase {
 public:
  ExactCase(const char* strategy, Parameters parameters, kernel::Storage storage = kernel::Storage::BF16,
            const step::Clip& clip = {}, const ExactCell& cell = {}, kernel::Math math = kernel::Math::Fast)
      : cell_(step::clipped(frontend::parse(cell.text, "exact.cell").cells.at(0), clip).value()),
        strategy_(find_strategy(strategy)),
        parameters_(std::move(parameters)),
        pad_(cell.pad) {
    problem_.sizes = cell.sizes;
    problem_.storage = storage;
    problem_.math = math;
    problem_.save_products = cell.save_products;
  }

  // Of the backward pass; else they are the same.
  ExactCase& backward(Parameters parameters) {
    backward_ = std::move(parameters);
    return *this;
  }

  // How its plans are run: in the simulator, unless a test has something else, for CPUs then.
  using Runner = std::function<SimulatedRun(const Task&, const KernelPlan&, const TensorValues&, int pad)>;
  ExactCase& on_cpus(Runner runner) {
    runner_ = std::move(runner);
    return *this;
  }

  void run() {
    std::mt19937 rng(11);
    step::ForwardArguments<double> arguments;
    step::LossGradients<double> loss;
    for (step::TensorId id = 0; id < static_cast<step::TensorId>(cell_.tensors.size()); ++id) {
      const step::Tensor& tensor = cell_.tensors[static_cast<std::size_t>(id)];
      const std::int64_t count = step::element_count(tensor, problem_.sizes);
      switch (tensor.kind) {
        case step::TensorKind::Input:
          put(arguments.inputs, {Role::Input, id}, integers(rng, count, 3));
          break;
        case step::TensorKind::Param:
          put(arguments.params, {Role::Param, id}, integers(rng, count, 16));
          break;
        case step::TensorKind::State:
          put(arguments.initial_states, {Role::InitialState, id}, integers(rng, count, 3));
          put(loss.last_states, {Role::LastStateGradient, id}, integers(rng, count, 3));
          break;
        case step::TensorKind::Output:
          put(loss.outputs, {Role::OutputGradient, id}, integers(rng, count, 3));
          break;
        case step::TensorKind::Reset:
        case step::TensorKind::Length: throw std::logic_error("an exact case of a cell with forms");
      }
    }
    const auto forward = run_forward(cell_, problem_.sizes, arguments, {1, true, nullptr, nullptr});
    ASSERT_TRUE(forward) << forward.error().message;
    problem_.pass = Pass::ForwardSave;
    const SimulatedRun saved = simulate();
    expect(saved, Role::Output, step::TensorKind::Output, forward->outputs);
    expect(saved, Role::LastState, step::TensorKind::State, forward->last_states);
    for (const auto& [ref, values] : saved.written)
      if (ref.role != Role::LastState) given_[ref] = values;
    const auto backward = run_backward(cell_, problem_.sizes, arguments, loss, {1, true, nullptr, nullptr});
    ASSERT_TRUE(backward) << backward.error().message;
    problem_.pass = Pass::Backward;
    if (!strategy_->legal(task()).legal) return;
    if (!backward_.empty()) parameters_ = backward_;
    const SimulatedRun swept = simulate();
    expect(swept, Role::InputGradient, step::TensorKind::Input, backward->inputs);
    expect(swept, Role::ParamGradient, step::TensorKind::Param, backward->params);
    expect(swept, Role::InitialStateGradient, step::TensorKind::State, backward->initial_states);
  }

 private:
  void put(step::TensorMap<double>& map, TensorRef ref, std::vector<double> values) {
    map[cell_.tensors[static_cast<std::size_t>(ref.tensor)].name] = values;
    given_[ref] = std::move(values);
  }

  SimulatedRun simulate() {
    const KernelPlan plan = schedule::point_plan(*strategy_, cell_, problem_, parameters_);
    SimulatedRun run =
        runner_ ? runner_(task(), plan, given_, pad_) : simulate_plan(task(), plan, given_, pad_);
    EXPECT_TRUE(run.faults.empty()) << run.faults.front();
    EXPECT_TRUE(run.unwritten.empty()) << run.unwritten.front();
    return run;
  }

  void expect(const SimulatedRun& run, Role role, step::TensorKind kind,
              const step::TensorMap<double>& want) {
    for (const step::TensorId id : cell_.of_kind(kind)) {
      const std::string& name = cell_.tensors[static_cast<std::size_t>(id)].name;
      ASSERT_EQ(run.written.count({role, id}), 1u) << name;
      EXPECT_EQ(run.written.at({role, id}), want.at(name)) << name << ", role " << static_cast<int>(role);
    }
  }

  Task task() const { return {cell_, problem_, runner_ ? target::host_profile() : target::board()}; }

  step::Cell cell_;
  Problem problem_;
  const Strategy* strategy_;
  Parameters parameters_, backward_;
  int pad_;
  Runner runner_;
  TensorValues given_;
};

}  // namespace rondo::schedule
