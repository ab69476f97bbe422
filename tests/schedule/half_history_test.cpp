// fp16 training of cells whose states add up: past 65,504 their histories are kept in fp32, and gradients are
// right.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compiler/constraint/solver.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/simulate_plan.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/reference/executor.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/point_plan.h"

namespace rondo::schedule::half_history {
namespace {

constexpr step::Sizes kSizes{3, 7, 1, 32};
constexpr double kBig = 1e5;  // no number of fp16

// An LSTM without matrices, which stream takes.
constexpr const char* kDiagonal = R"(
cell diagonal_lstm(D) {
  input x[4, D]
  param a[4, D]
  state h[D], c[D]
  g = a * h + x
  next c = sigmoid(g[1]) * c + sigmoid(g[0]) * tanh(g[2])
  next h = sigmoid(g[3]) * tanh(1e-5 * next c)
  output h
}
)";

bool is_wide(const step::Cell& cell, const std::string& state) {
  Problem problem;
  problem.storage = kernel::Storage::F16;
  const Task task{cell, problem, {}};
  return task.history_storage(*task.cell.find(state)) == kernel::Storage::F32;
}

TEST(HalfHistory, IsFp32WhereNothingBoundsTheState) {
  EXPECT_TRUE(is_wide(cell_named("lstm"), "c"));
  EXPECT_FALSE(is_wide(cell_named("lstm"), "h"));
  for (const char* const state : {"c", "n", "m"}) EXPECT_TRUE(is_wide(cell_named("slstm"), state)) << state;
  EXPECT_FALSE(is_wide(cell_named("paralstm"), "c")) << "its gates mix";
  Problem problem;
  for (const kernel::Storage storage : {kernel::Storage::BF16, kernel::Storage::F32}) {
    problem.storage = storage;
    const Task task{cell_named("lstm"), problem, {}};
    EXPECT_EQ(storage_of({Role::History, *task.cell.find("c")}, task), storage);
  }
}

// The values of a training step: small ones, and states that add up begin past the end of fp16.
struct Values {
  step::ForwardArguments<double> arguments;
  step::LossGradients<double> loss;
  TensorValues given;
};

Values values_of(const Task& task) {
  Values values;
  std::mt19937 rng(20260101);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  const auto draw = [&](std::int64_t count) {
    std::vector<double> drawn(static_cast<std::size_t>(count));
    for (double& v : drawn)
      v = static_cast<double>(scalar::round_to(kernel::Storage::F16, static_cast<float>(uniform(rng))));
    return drawn;
  };
  for (step::TensorId id = 0; id < static_cast<step::TensorId>(task.cell.tensors.size()); ++id) {
    const step::Tensor& tensor = task.cell.tensors[static_cast<std::size_t>(id)];
    std::vector<double> drawn = draw(step::element_count(tensor, task.problem.sizes));
    if (tensor.kind == step::TensorKind::Input)
      values.given[{Role::Input, id}] = values.arguments.inputs[tensor.name] = drawn;
    if (tensor.kind == step::TensorKind::Param)
      values.given[{Role::Param, id}] = values.arguments.params[tensor.name] = drawn;
    if (tensor.kind == step::TensorKind::Output)
      values.given[{Role::OutputGradient, id}] = values.loss.outputs[tensor.name] = drawn;
    if (tensor.kind == step::TensorKind::State) {
      const bool adds_up = tensor.name == "c" || tensor.name == "n";
      for (double& v : drawn) v = adds_up ? kBig * (1 + std::abs(v)) : 0;
      values.given[{Role::InitialState, id}] = values.arguments.initial_states[tensor.name] = drawn;
    }
  }
  return values;
}

target::Profile profile_of(const Strategy& strategy) {
  const target::Profile board = target::board();
  return strategy.serves(board).legal ? board : target::host_profile({target::Target::Kind::X86_64, 3});
}

SimulatedRun simulated(const Strategy& strategy, Task task, Pass pass, const TensorValues& given) {
  task.problem.pass = pass;
  const constraint::System space = strategy.space(task);
  const auto first = constraint::find_first(space);
  Parameters point;
  for (std::size_t i = 0; i < space.domains().size(); ++i)
    point[space.names().variables[i].name] = first->solution->values()[i];
  const KernelPlan plan = point_plan(strategy, task.cell, task.problem, point, task.profile);
  SimulatedRun run = simulate_plan(task, plan, given, 16);
  EXPECT_TRUE(run.faults.empty()) << run.faults.front();
  EXPECT_TRUE(run.unwritten.empty()) << run.unwritten.front();
  return run;
}

// The error of a result, in the largest of its values.
double error_of(const std::vector<double>& got, const std::vector<double>& want) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!std::isfinite(got[i])) return std::numeric_limits<double>::infinity();
    error = std::max(error, std::abs(got[i] - want[i]));
    size = std::max(size, std::abs(want[i]));
  }
  return error / size;
}

// Runs both passes of training and compares the gradients of the input.
void train(const Strategy& strategy, const step::Cell& cell) {
  Problem problem;
  problem.sizes = kSizes;
  problem.storage = kernel::Storage::F16;
  const Task task{cell, problem, profile_of(strategy)};
  if (!strategy.legal(task).legal) return;
  Values values = values_of(task);
  const SimulatedRun forward = simulated(strategy, task, Pass::ForwardSave, values.given);
  for (const auto& [ref, written] : forward.written)
    if (ref.role != Role::LastState) values.given[ref] = written;
  Task backward_task = task;
  backward_task.problem.pass = Pass::Backward;
  if (!strategy.legal(backward_task).legal) return;
  const SimulatedRun backward = simulated(strategy, task, Pass::Backward, values.given);
  const auto exact = step::run_backward(task.cell, kSizes, values.arguments, values.loss);
  ASSERT_TRUE(exact.ok());
  for (const auto& [name, gradients] : exact->inputs)
    EXPECT_LE(error_of(backward.written.at({Role::InputGradient, *task.cell.find(name)}), gradients), 0.01)
        << strategy.name() << ", " << cell.name;
}

TEST(HalfHistory, GradientsOfStatesBeyondFp16) {
  const step::Cell cells[] = {cell_named("lstm"), cell_named("slstm"),
                              frontend::parse(kDiagonal, "diagonal.cell").cells.at(0)};
  for (const Strategy* strategy : strategies())
    for (const step::Cell& cell : cells) {
      train(*strategy, cell);
      ASSERT_FALSE(HasFailure());
    }
}

}  // namespace
}  // namespace rondo::schedule::half_history
