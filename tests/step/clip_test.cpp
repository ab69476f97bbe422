// Clipping of the recurrent path: where it acts by hand, where it does not against central differences.
#include "compiler/step/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/step/derive.h"
#include "compiler/step/structure.h"
#include "compiler/step/verify.h"
#include "tests/step/cell_builder.h"
#include "tests/step/cell_runs.h"
#include "tests/step/gradient_check.h"
#include "tests/step/random_cell.h"

namespace rondo::step::testing {
namespace {

// next h = a h + x, output h.
Cell leaky(double a) {
  CellBuilder b("leaky");
  const TensorId x = b.input("x"), h = b.state("h");
  const Value next = a * b.read(h) + b.read(x);
  b.next(h, 0, next);
  b.publish("h", next);
  return b.cell();
}

Cell with(const Cell& cell, const Clip& clip) { return clipped(cell, clip).value(); }

TEST(Clip, ActsOnWhatMatricesMultiplyElseOnEveryState) {
  EXPECT_EQ(recurrent_rows(lstm()), (std::vector<bool>{true, false})) << "h, and not c";
  EXPECT_EQ(recurrent_rows(mingru()), std::vector<bool>{true});
  CellBuilder b("input_only");  // R @ x: no state reaches the product
  const TensorId x = b.input("x"), r = b.matrix("R"), h = b.state("h"), k = b.state("k");
  b.next(h, 0, b.matvec(r, 0, b.read(x)) + b.read(h));
  b.next(k, 0, b.read(k) + b.read(h));
  EXPECT_EQ(recurrent_rows(b.cell()), (std::vector<bool>{true, true}));
}

TEST(Clip, ForwardBoundsCarriesAndTheirOutputs) {
  const Cell cell = with(leaky(1), {1.5, {}});
  EXPECT_TRUE(verify(cell).empty());
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {1, 1, 1, -1, -4};
  const auto run = run_forward(cell, {1, 5, 1, 1}, arguments, {1, true, nullptr, nullptr});
  ASSERT_TRUE(run.ok()) << run.error().message;
  const std::vector<double> want{1, 1.5, 1.5, 0.5, -1.5};
  EXPECT_EQ(run->outputs.at("h"), want);
  EXPECT_EQ(run->history.at("h"), want);
  EXPECT_EQ(run->last_states.at("h"), std::vector<double>{-1.5});
}

// The gradient of a clamp: none through the steps where it acted (the second, third and fifth).
TEST(Clip, NoGradientPassesAClampedCarry) {
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {1, 1, 1, -1, -4};
  LossGradients<double> loss;
  loss.outputs["h"] = {1, 1, 1, 1, 1};
  const auto run = run_backward(with(leaky(1), {1.5, {}}), {1, 5, 1, 1}, arguments, loss);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->inputs.at("x"), (std::vector<double>{1, 0, 0, 1, 0}));
  EXPECT_EQ(run->initial_states.at("h"), std::vector<double>{1});
}

// h_t = 2 h_{t-1} + x_t with a loss of sum h_t: the gradient that a step sends back is twice its own, at
// most 3.
TEST(Clip, GradientIsBoundedBetweenSteps) {
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {0, 0, 0, 0};
  LossGradients<double> loss;
  loss.outputs["h"] = {-1, 1, 1, 1};
  loss.last_states["h"] = {100};  // given by the caller: not of the recurrence, not clipped
  const Cell cell = with(leaky(2), {{}, 3.0});
  EXPECT_TRUE(verify(cell, backward_step(cell)).empty());
  const auto run = run_backward(cell, {1, 4, 1, 1}, arguments, loss);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->inputs.at("x"), (std::vector<double>{2, 4, 4, 101}));
  EXPECT_EQ(run->initial_states.at("h"), std::vector<double>{3});
  loss.outputs["h"] = {-1, -1, -1, -1};
  loss.last_states.clear();
  EXPECT_EQ(run_backward(cell, {1, 4, 1, 1}, arguments, loss)->inputs.at("x"),
            (std::vector<double>{-4, -4, -3, -1}));
}

// next h = 4 R h + x with R = 1, next c = 3 c + h: the matrix multiplies h alone, so the gradient through c
// is not bounded, though it grows as that of h does.
TEST(Clip, GradientIsNotBoundedWhereNoMatrixMultiplies) {
  CellBuilder b("pair");
  const TensorId x = b.input("x"), r = b.matrix("R"), h = b.state("h"), c = b.state("c");
  b.next(h, 0, 4.0 * b.matvec(r, 0, b.read(h)) + b.read(x));
  b.next(c, 0, 3.0 * b.read(c) + b.read(h));
  b.publish("y", b.read(h) + b.read(c));
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {0, 0, 0};
  arguments.params["R"] = {1};
  LossGradients<double> loss;
  loss.outputs["y"] = {0, 0, 0};
  loss.last_states["h"] = {1};
  loss.last_states["c"] = {1};
  const auto run = run_backward(with(b.cell(), {{}, 2.0}), {1, 3, 1, 1}, arguments, loss);
  ASSERT_TRUE(run.ok()) << run.error().message;
  // c: 1, 3, 9, 27. h: 1; 4 + 1 = 5, bounded to 2; 4 * 2 + 3, bounded to 2; 4 * 2 + 9, bounded to 2.
  EXPECT_EQ(run->initial_states.at("c"), std::vector<double>{27});
  EXPECT_EQ(run->initial_states.at("h"), std::vector<double>{2});
  EXPECT_EQ(run->inputs.at("x"), (std::vector<double>{2, 2, 1}));
}

TEST(Clip, ASequenceInTwoCallsHasTheGradientsOfTheWhole) {
  const Cell cell = with(lstm(), {0.3, 0.2});
  const Sizes whole{2, 6, 1, 3}, half{2, 3, 1, 3};
  Random random(5);
  const ForwardArguments<double> arguments = random_arguments(cell, whole, random);
  const LossGradients<double> loss = random_loss(cell, whole, random);
  const auto expected = run_backward(cell, whole, arguments, loss);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  // [B = 2, T, ...]: steps 0 to 2, or 3 to 5, of both batch rows.
  const auto part = [](const std::vector<double>& values, int which) {
    const std::size_t n = values.size() / 4, first = static_cast<std::size_t>(which) * n;
    std::vector<double> result;
    for (const std::size_t row : {std::size_t{0}, 2 * n})
      result.insert(result.end(), values.begin() + static_cast<std::ptrdiff_t>(row + first),
                    values.begin() + static_cast<std::ptrdiff_t>(row + first + n));
    return result;
  };
  ForwardArguments<double> first = arguments, second = arguments;
  first.inputs["x"] = part(arguments.inputs.at("x"), 0);
  second.inputs["x"] = part(arguments.inputs.at("x"), 1);
  second.initial_states = run_forward(cell, half, first)->last_states;
  LossGradients<double> late = loss, early = loss;
  late.outputs["h"] = part(loss.outputs.at("h"), 1);
  early.outputs["h"] = part(loss.outputs.at("h"), 0);
  const auto end = run_backward(cell, half, second, late);
  ASSERT_TRUE(end.ok()) << end.error().message;
  early.last_states = end->initial_states;
  const auto begin = run_backward(cell, half, first, early);
  ASSERT_TRUE(begin.ok()) << begin.error().message;
  EXPECT_EQ(begin->inputs.at("x"), part(expected->inputs.at("x"), 0));
  EXPECT_EQ(end->inputs.at("x"), part(expected->inputs.at("x"), 1));
  EXPECT_LE(largest_difference(begin->initial_states, expected->initial_states), 1e-15);
  // Without clipping they are others: it acted.
  EXPECT_GT(largest_difference(run_backward(lstm(), whole, arguments, loss)->inputs, expected->inputs), 1e-3);
}

TEST(Clip, GradientsAgreeWithCentralDifferences) {
  for (const Cell& cell : {lstm(), mingru(), diagonal_gru()})
    for (const double forward : {0.25, 1e6}) {
      const Sizes sizes{2, 4, 2, 3};
      Random random(17);
      const ForwardArguments<double> arguments = random_arguments(cell, sizes, random);
      const LossGradients<double> loss = random_loss(cell, sizes, random);
      const Cell clip = with(cell, {forward, 1e6});
      const GradientReport report = check_gradients(clip, sizes, arguments, loss);
      EXPECT_EQ(report.mismatch, "") << cell.name;
      EXPECT_GT(report.nonzero, 20) << cell.name;
      const double changed = largest_difference(run_backward(clip, sizes, arguments, loss)->inputs,
                                                run_backward(cell, sizes, arguments, loss)->inputs);
      if (forward > 1) {
        EXPECT_EQ(changed, 0) << "bounds that are not reached change no bit";
      } else {
        EXPECT_GT(changed, 1e-3) << "the bound must be reached for this to test it";
      }
    }
}

TEST(Clip, NanIsNoBoundReached) {
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {std::nan("")};
  EXPECT_TRUE(
      std::isnan(run_forward(with(leaky(1), {1.0, {}}), {1, 1, 1, 1}, arguments)->outputs.at("h")[0]));
  LossGradients<double> loss;
  loss.outputs["h"] = {std::nan("")};
  arguments.inputs["x"] = {0};
  const auto run = run_backward(with(leaky(1), {{}, 1.0}), {1, 1, 1, 1}, arguments, loss);
  EXPECT_TRUE(std::isnan(run->initial_states.at("h")[0]));
}

TEST(Clip, AnAffineCellIsAffineNoMore) {
  EXPECT_TRUE(analyze(mingru()).affine);
  EXPECT_FALSE(analyze(with(mingru(), {1.0, {}})).affine);
  EXPECT_TRUE(analyze(with(mingru(), {{}, 1.0})).affine) << "forward it is as it was";
}

TEST(Clip, BadBoundsAreRefused) {
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e300, 1e-300}) {
    for (const Clip& clip : {Clip{bad, {}}, Clip{{}, bad}}) {
      const Result<Cell> result = clipped(lstm(), clip);
      ASSERT_FALSE(result.ok()) << bad;
      EXPECT_EQ(result.error().kind, ErrorKind::Input);
      EXPECT_NE(result.error().message.find(clip.forward ? "clip_forward" : "clip_gradient"),
                std::string::npos);
    }
  }
  EXPECT_FALSE(clipped(with(lstm(), {1.0, {}}), {{}, 1.0}).ok()) << "twice";
  EXPECT_TRUE(clipped(with(lstm(), {1.0, {}}), {}).ok());
}

}  // namespace
}  // namespace rondo::step::testing
