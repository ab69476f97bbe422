#include "compiler/step/reference/executor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/step/derive.h"
#include "compiler/support/index.h"
#include "tests/step/cell_builder.h"
#include "tests/step/cell_runs.h"
#include "tests/step/random_cell.h"

namespace rondo::step::testing {
namespace {

std::vector<Cell> library() { return {mingru(), lstm(), diagonal_gru(), normalised()}; }

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Reference, CountsFollowTheLayouts) {
  const Sizes sizes{2, 3, 5, 7};
  EXPECT_EQ(element_count({TensorKind::Input, "x", Tail::Vector, {4}, 4, {}}, sizes), 2 * 3 * 5 * 4 * 7);
  EXPECT_EQ(element_count({TensorKind::Output, "y", Tail::Scalar, {}, 1, {}}, sizes), 2 * 3 * 5);
  EXPECT_EQ(element_count({TensorKind::Param, "R", Tail::Matrix, {4}, 4, {}}, sizes), 5 * 4 * 7 * 7);
  EXPECT_EQ(element_count({TensorKind::Param, "s", Tail::Scalar, {3}, 3, {}}, sizes), 5 * 3);
  EXPECT_EQ(element_count({TensorKind::State, "h", Tail::Vector, {2}, 2, {}}, sizes), 2 * 5 * 2 * 7);
  EXPECT_EQ(history_count({TensorKind::State, "h", Tail::Vector, {2}, 2, {}}, sizes), 2 * 3 * 5 * 2 * 7);
}

// The LSTM written as loops, with the layouts of step_ir.h.
TEST(Reference, LstmEqualsPlainLoops) {
  const Sizes z{2, 4, 3, 5};
  Random random(7);
  const ForwardArguments<double> arguments = random_arguments(lstm(), z, random);
  const auto result = run_forward(lstm(), z, arguments, {0, true, nullptr});
  ASSERT_TRUE(result.ok()) << result.error().message;
  const auto& x = arguments.inputs.at("x");
  const auto& r = arguments.params.at("R");
  const auto& bias = arguments.params.at("b");
  for (std::int64_t b = 0; b < z.batch; ++b) {
    for (std::int64_t n = 0; n < z.heads; ++n) {
      std::vector<double> h(5), c(5);
      for (std::int64_t d = 0; d < 5; ++d) {
        h[at(d)] = arguments.initial_states.at("h")[at((b * z.heads + n) * 5 + d)];
        c[at(d)] = arguments.initial_states.at("c")[at((b * z.heads + n) * 5 + d)];
      }
      for (std::int64_t t = 0; t < z.time; ++t) {
        const std::int64_t place = (b * z.time + t) * z.heads + n;
        std::vector<double> g(20);
        for (std::int64_t row = 0; row < 4; ++row)
          for (std::int64_t i = 0; i < 5; ++i) {
            double& sum = g[at(row * 5 + i)];
            sum = x[at((place * 4 + row) * 5 + i)] + bias[at((n * 4 + row) * 5 + i)];
            for (std::int64_t j = 0; j < 5; ++j) sum += r[at(((n * 4 + row) * 5 + i) * 5 + j)] * h[at(j)];
          }
        for (std::size_t d = 0; d < 5; ++d) {
          c[d] = logistic(g[5 + d]) * c[d] + logistic(g[d]) * std::tanh(g[10 + d]);
          h[d] = logistic(g[15 + d]) * std::tanh(c[d]);
          EXPECT_NEAR(result->outputs.at("h")[at(place * 5) + d], h[d], 1e-14);
          EXPECT_NEAR(result->history.at("c")[at(place * 5) + d], c[d], 1e-14);
        }
      }
      for (std::size_t d = 0; d < 5; ++d)
        EXPECT_NEAR(result->last_states.at("c")[at((b * z.heads + n) * 5) + d], c[d], 1e-14);
    }
  }
}

TEST(Reference, HistoryIsOnlyKeptWhenAsked) {
  Random random(8);
  const Sizes z{1, 2, 1, 3};
  const auto arguments = random_arguments(mingru(), z, random);
  EXPECT_TRUE(run_forward(mingru(), z, arguments)->history.empty());
  EXPECT_EQ(run_forward(mingru(), z, arguments, {0, true, nullptr})->history.at("h"),
            run_forward(mingru(), z, arguments)->outputs.at("h"));
}

TEST(Reference, ThreadsDoNotChangeABit) {
  const Sizes z{19, 3, 2, 5};  // more batch elements than parts of the backward sum
  for (const Cell& cell : library()) {
    Random random(9);
    const auto arguments = random_arguments(cell, z, random);
    const auto loss = random_loss(cell, z, random);
    const auto one = run_backward(cell, z, arguments, loss, {1, false, nullptr});
    ASSERT_TRUE(one.ok());
    for (const int threads : {2, 3, 16, 0}) {
      const auto many = run_backward(cell, z, arguments, loss, {threads, false, nullptr});
      EXPECT_EQ(one->params, many->params) << cell.name;
      EXPECT_EQ(one->inputs, many->inputs) << cell.name;
      EXPECT_EQ(one->initial_states, many->initial_states) << cell.name;
      EXPECT_EQ(run_forward(cell, z, arguments, {1, false, nullptr})->outputs,
                run_forward(cell, z, arguments, {threads, false, nullptr})->outputs);
    }
  }
}

// One thread adds the sums of matrices part by part, several at the end: also where a part has few steps,
// more than wait for their products at a time, or several batch rows, and where all of it errs.
TEST(Reference, SumsOfMatricesDoNotDependOnThreads) {
  Perturbation perturbation;
  perturbation.stored = scalar::Storage::BF16;
  for (const Sizes& z : {Sizes{2, 3, 2, 9}, {3, 40, 2, 5}, {37, 9, 1, 4}})
    for (const Cell& cell : library())
      for (const Perturbation* errors : std::initializer_list<const Perturbation*>{nullptr, &perturbation}) {
        Random random(8);
        const auto arguments = random_arguments(cell, z, random);
        const auto loss = random_loss(cell, z, random);
        RunOptions<double> options;
        options.perturbation = errors;
        options.threads = 1;
        const auto one = run_backward(cell, z, arguments, loss, options);
        options.threads = 3;
        const auto many = run_backward(cell, z, arguments, loss, options);
        ASSERT_TRUE(one && many);
        EXPECT_EQ(one->params, many->params) << cell.name << " B=" << z.batch << " T=" << z.time;
        EXPECT_EQ(one->inputs, many->inputs) << cell.name;
      }
}

// Cells with and without matrices, several parts of the batch, and products that fill no whole group.
TEST(Reference, RunsTogetherAreThoseAlone) {
  const Sizes z{19, 3, 2, 9};
  std::vector<Perturbation> perturbations(7);
  for (std::size_t i = 0; i < perturbations.size(); ++i) {
    perturbations[i].seed = i / 2;
    perturbations[i].steady = i % 2 == 1;
    perturbations[i].stored = scalar::Storage::BF16;
  }
  for (const Cell& cell : library()) {
    Random random(8);
    const auto arguments = random_arguments(cell, z, random);
    const auto loss = random_loss(cell, z, random);
    RunOptions<double> options;
    options.keep_history = true;
    options.threads = 3;
    const auto history = run_forward(cell, z, arguments, options)->history;
    const auto forward = run_forward_perturbed(cell, z, arguments, perturbations, options);
    std::vector<BackwardResult<double>> backward;
    ASSERT_TRUE(run_backward_perturbed<double>(
        cell, z, arguments, loss, history, perturbations,
        [&](std::size_t run, BackwardResult<double> result) {
          EXPECT_EQ(run, backward.size());
          backward.push_back(std::move(result));
        },
        options));
    ASSERT_TRUE(forward && backward.size() == perturbations.size());
    for (std::size_t i = 0; i < perturbations.size(); ++i) {
      options.perturbation = &perturbations[i];
      const auto there = run_forward(cell, z, arguments, options);
      const auto back = run_backward_from(cell, z, arguments, loss, history, options);
      ASSERT_TRUE(there && back);
      EXPECT_EQ((*forward)[i].outputs, there->outputs) << cell.name << ' ' << i;
      EXPECT_EQ((*forward)[i].history, there->history) << cell.name << ' ' << i;
      EXPECT_EQ(backward[i].inputs, back->inputs) << cell.name << ' ' << i;
      EXPECT_EQ(backward[i].params, back->params) << cell.name << ' ' << i;
      EXPECT_EQ(backward[i].initial_states, back->initial_states) << cell.name << ' ' << i;
    }
  }
}

TensorMap<float> narrowed(const TensorMap<double>& tensors) {
  TensorMap<float> result;
  for (const auto& [name, values] : tensors) result[name].assign(values.begin(), values.end());
  return result;
}
TensorMap<double> widened(const TensorMap<float>& tensors) {
  TensorMap<double> result;
  for (const auto& [name, values] : tensors) result[name].assign(values.begin(), values.end());
  return result;
}

TEST(Reference, FloatIsCloseToDouble) {
  const Sizes z{3, 20, 2, 33};
  for (const Cell& cell : library()) {
    Random random(10);
    auto arguments = random_arguments(cell, z, random);
    ForwardArguments<float> narrow{
        narrowed(arguments.inputs), narrowed(arguments.params), narrowed(arguments.initial_states), {}};
    arguments = {widened(narrow.inputs), widened(narrow.params), widened(narrow.initial_states), {}};
    auto loss = random_loss(cell, z, random);
    const LossGradients<float> narrow_loss{narrowed(loss.outputs), narrowed(loss.last_states)};
    loss = {widened(narrow_loss.outputs), widened(narrow_loss.last_states)};
    const auto exact = run_forward(cell, z, arguments);
    const auto rounded = run_forward(cell, z, narrow);
    // 20 contracting steps of a few tens of roundings of 6e-8, relative to values of at least 1; gradients of
    // parameters add up 60 steps of them.
    EXPECT_LT(largest_difference(widened(rounded->outputs), exact->outputs), 20 * 30 * 6e-8) << cell.name;
    EXPECT_GT(largest_difference(widened(rounded->outputs), exact->outputs), 0) << cell.name;
    const auto exact_gradients = run_backward(cell, z, arguments, loss);
    const auto rounded_gradients = run_backward(cell, z, narrow, narrow_loss);
    EXPECT_LT(largest_difference(widened(rounded_gradients->params), exact_gradients->params), 60 * 30 * 6e-8)
        << cell.name;
    EXPECT_LT(largest_difference(widened(rounded_gradients->inputs), exact_gradients->inputs), 20 * 30 * 6e-8)
        << cell.name;
  }
}

TEST(Reference, MissingStatesAndLossesAreZero) {
  const Sizes z{2, 3, 1, 4};
  Random random(11);
  auto arguments = random_arguments(lstm(), z, random);
  auto loss = random_loss(lstm(), z, random);
  for (auto& [name, values] : arguments.initial_states) std::fill(values.begin(), values.end(), 0.0);
  for (auto& [name, values] : loss.last_states) std::fill(values.begin(), values.end(), 0.0);
  const auto written = run_backward(lstm(), z, arguments, loss);
  arguments.initial_states.clear();
  loss.last_states.clear();
  const auto left_out = run_backward(lstm(), z, arguments, loss);
  EXPECT_EQ(written->params, left_out->params);
  EXPECT_EQ(written->initial_states, left_out->initial_states);
  loss.outputs.clear();
  const auto no_loss = run_backward(lstm(), z, arguments, loss);
  for (const auto& [name, values] : no_loss->inputs)
    for (const double value : values) EXPECT_EQ(value, 0);
}

TEST(Reference, ConstantsAreOverridden) {
  const Sizes z{1, 2, 1, 4};
  Random random(12);
  auto arguments = random_arguments(normalised(), z, random);
  Cell changed = normalised();
  changed.constants[0].value = 0.25;
  const auto by_default = run_forward(changed, z, arguments);
  arguments.constants["eps"] = 0.25;
  EXPECT_EQ(run_forward(normalised(), z, arguments)->outputs, by_default->outputs);
  EXPECT_EQ(run_backward(normalised(), z, arguments, random_loss(changed, z, random)).ok(), true);
}

TEST(Reference, RoundsStatesAndTheOutputsThatPublishThem) {
  const Sizes z{1, 5, 1, 8};
  Random random(13);
  const auto arguments = random_arguments(mingru(), z, random);
  RunOptions<double> options{0, true, [](double x) { return std::round(x * 16) / 16; }};
  const auto result = run_forward(mingru(), z, arguments, options);
  for (const double h : result->history.at("h")) EXPECT_EQ(h * 16, std::round(h * 16));
  EXPECT_EQ(result->history.at("h"), result->outputs.at("h"));
}

// `next a = b, next b = a` must not read what it has just written, forward or backward.
TEST(Reference, StatesChangePlaces) {
  CellBuilder b("swap");
  b.input("x");
  const TensorId first = b.state("first"), second = b.state("second");
  const Value old_first = b.read(first), old_second = b.read(second);
  b.next(first, 0, old_second);
  b.next(second, 0, 2.0 * old_first);
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {0, 0, 0};
  arguments.initial_states = {{"first", {1}}, {"second", {10}}};
  const Sizes z{1, 3, 1, 1};
  const auto forward = run_forward(b.cell(), z, arguments);
  EXPECT_EQ(forward->last_states.at("first"), std::vector<double>{20});
  EXPECT_EQ(forward->last_states.at("second"), std::vector<double>{4});
  LossGradients<double> loss;
  loss.last_states = {{"first", {1}}, {"second", {100}}};
  const auto backward = run_backward(b.cell(), z, arguments, loss);
  EXPECT_EQ(backward->initial_states.at("first"), std::vector<double>{400});
  EXPECT_EQ(backward->initial_states.at("second"), std::vector<double>{2});
}

// torch.amax: channels that tie for the maximum share its gradient evenly.
TEST(Reference, TiesOfAMaximumShareItsGradient) {
  CellBuilder b("maximum");
  const TensorId x = b.input("x"), h = b.state("h");
  const Value next = b.read(h) + b.maximum(b.read(x));
  b.next(h, 0, next);
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {3, 1, 3, 2};
  LossGradients<double> loss;
  loss.last_states["h"] = {1, 1, 1, 5};
  const auto backward = run_backward(b.cell(), {1, 1, 1, 4}, arguments, loss);
  EXPECT_EQ(backward->inputs.at("x"), (std::vector<double>{4, 0, 4, 0}));
}

TEST(Reference, TheSmallestSizes) {
  Random random(14);
  for (const Cell& cell : library()) {
    const auto arguments = random_arguments(cell, {1, 1, 1, 1}, random);
    EXPECT_TRUE(run_backward(cell, {1, 1, 1, 1}, arguments, random_loss(cell, {1, 1, 1, 1}, random)).ok())
        << cell.name;
  }
}

class ReferenceErrors : public ::testing::Test {
 protected:
  ReferenceErrors()
      : random_(15),
        arguments_(random_arguments(lstm(), sizes_, random_)),
        loss_(random_loss(lstm(), sizes_, random_)) {}

  // The message of a backward run (which checks what a forward run checks), "" if there is none.
  std::string message() {
    const auto result = run_backward(lstm(), sizes_, arguments_, loss_);
    if (result.ok()) return "";
    EXPECT_EQ(result.error().kind, ErrorKind::Input);
    return result.error().message;
  }

  Sizes sizes_{2, 3, 1, 4};
  Random random_;
  ForwardArguments<double> arguments_;
  LossGradients<double> loss_;
};

TEST_F(ReferenceErrors, MissingTensor) {
  arguments_.inputs.clear();
  EXPECT_EQ(message(), "input x of cell lstm is missing");
  const auto forward = run_forward(lstm(), sizes_, arguments_);
  ASSERT_FALSE(forward.ok());
  EXPECT_EQ(forward.error().hint, "pass 96 elements, [B, T, H, 4, D]");
}

TEST_F(ReferenceErrors, UnknownTensor) {
  arguments_.params["Q"] = {1};
  EXPECT_EQ(message(), "cell lstm has no param Q");
}

TEST_F(ReferenceErrors, WrongSize) {
  arguments_.params["R"].pop_back();
  EXPECT_EQ(message(), "param R has 63 elements, 64 are needed: [H, 4, D, D] with B=2, T=3, H=1, D=4");
}

TEST_F(ReferenceErrors, WrongState) {
  arguments_.initial_states["c"].resize(3);
  EXPECT_EQ(message(), "initial state c has 3 elements, 8 are needed: [B, H, 1, D] with B=2, T=3, H=1, D=4");
}

TEST_F(ReferenceErrors, WrongLoss) {
  loss_.outputs["h"].clear();
  EXPECT_EQ(
      message(),
      "loss gradient of output h has 0 elements, 24 are needed: [B, T, H, 1, D] with B=2, T=3, H=1, D=4");
  loss_.outputs.clear();
  loss_.last_states["z"] = {1};
  EXPECT_EQ(message(), "cell lstm has no loss gradient of last state z");
}

TEST_F(ReferenceErrors, UnknownConstant) {
  arguments_.constants["eps"] = 1;
  EXPECT_EQ(message(), "cell lstm has no constant eps");
}

TEST_F(ReferenceErrors, BadSizes) {
  sizes_.time = 0;
  EXPECT_EQ(message(), "sizes B=2, T=0, H=1, D=4: each must be at least 1");
}

TEST_F(ReferenceErrors, MalformedCell) {
  Cell cell = lstm();
  cell.next.pop_back();
  const auto result = run_forward(cell, sizes_, arguments_);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::Internal);
}

}  // namespace
}  // namespace rondo::step::testing
