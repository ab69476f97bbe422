// Named constants in kernels: what depends on numbers alone is a literal, computed in double and rounded
// once.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/schedule/plan/simulate_plan.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/reference/executor.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/first_point.h"
#include "tests/schedule/point_plan.h"

namespace rondo::schedule {
namespace {

constexpr const char* kMean = R"(
cell mean(D) {
  input x[D]
  state h[D]
  const decay = 0.999999
  rest = 1 - decay
  next h = decay * h + rest * x
  output h
}
)";
constexpr const char* kMeanOfProducts = R"(
cell mean(D) {
  input x[D]
  param R[D, D]
  state h[D], m[D]
  const decay = 0.999999
  next m = decay * m + (1 - decay) * x
  next h = tanh(R @ h + x)
  output h, m
}
)";

// The last state of `name` in the kernels of a strategy, from zero and inputs of 0.75, over that of the
// reference.
double quotient(const char* text, const char* strategy_name, const char* name, double decay) {
  const step::Cell cell = frontend::parse(text, "mean.cell").cells.at(0);
  const Strategy& strategy = *find_strategy(strategy_name);
  Problem problem;
  problem.sizes = {1, 6, 1, 32};
  problem.storage = kernel::Storage::F32;
  problem.math = kernel::Math::Accurate;
  if (decay != 0.999999) problem.constants["decay"] = decay;
  step::ForwardArguments<double> arguments;
  arguments.constants = problem.constants;
  TensorValues given;
  for (step::TensorId id = 0; id < static_cast<step::TensorId>(cell.tensors.size()); ++id) {
    const step::Tensor& tensor = cell.tensors[static_cast<std::size_t>(id)];
    const bool input = tensor.kind == step::TensorKind::Input, param = tensor.kind == step::TensorKind::Param;
    const std::vector<double> values(static_cast<std::size_t>(step::element_count(tensor, problem.sizes)),
                                     input ? 0.75 : 0);
    if (input) arguments.inputs[tensor.name] = values;
    if (param) arguments.params[tensor.name] = values;
    if (input || param) given[{input ? Role::Input : Role::Param, id}] = values;
    if (tensor.kind == step::TensorKind::State) given[{Role::InitialState, id}] = values;
  }
  const KernelPlan plan = point_plan(strategy, cell, problem, first_point(strategy, cell, problem));
  const SimulatedRun run = simulate_plan({cell, problem, target::board()}, plan, given, 16);
  const auto exact = step::run_forward(cell, problem.sizes, arguments);
  EXPECT_TRUE(exact.ok());
  return run.written.at({Role::LastState, *cell.find(name)}).front() / exact->last_states.at(name).front();
}

TEST(NamedConstants, AreFoldedInDouble) {
  for (const char* strategy : {"stream", "shoot"})
    for (const double decay : {0.999999, 0.9999995})
      EXPECT_NEAR(quotient(kMean, strategy, "h", decay), 1, 1e-6) << strategy;
  for (const char* strategy : {"persistent", "alternating"})
    for (const double decay : {0.999999, 0.9999995})
      EXPECT_NEAR(quotient(kMeanOfProducts, strategy, "m", decay), 1, 1e-6) << strategy;
}

}  // namespace
}  // namespace rondo::schedule
