// What the reference makes of an input with an extent of its own, beside cells that have none: the products
// of all steps are their input.
#include <gtest/gtest.h>

#include "compiler/frontend/frontend.h"
#include "compiler/step/derive.h"
#include "compiler/step/extents.h"
#include "compiler/step/reference/executor.h"
#include "compiler/step/verify.h"
#include "compiler/support/index.h"
#include "tests/step/random_cell.h"

namespace rondo::step {
namespace {

Cell cell_of(const std::string& text) {
  const frontend::Parsed parsed = frontend::parse(text, "extents.cell");
  EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text, "extents.cell");
  return parsed.cells.at(0);
}

constexpr Sizes kSizes{3, 5, 2, 4};
constexpr int kExtent = 7;

const char* const kLayer =
    "cell c(D, E = 3) {\n input u[E]\n param W[2, D, E], R[D, D]\n state h[D]\n x = W @ u\n"
    " next h = tanh(R @ h + x[0]) + x[1] * h\n output h\n}";
const char* const kWalked =
    "cell c(D) {\n input x[2, D]\n param R[D, D]\n state h[D]\n"
    " next h = tanh(R @ h + x[0]) + x[1] * h\n output h\n}";

// Elements of W [H, 2, D, E] and of tensors of a step: place = (row b, step t, head h).
std::size_t w_at(std::size_t h, std::size_t row, std::size_t i, std::size_t e) {
  return ((h * 2 + row) * at(kSizes.dim) + i) * kExtent + e;
}

// Calls body(place, head, row, i) for all channels of the products of all steps.
template <class Body>
void each_product(const Body& body) {
  for (std::size_t place = 0; place < at(kSizes.batch * kSizes.time * kSizes.heads); ++place)
    for (std::size_t row = 0; row < 2; ++row)
      for (std::size_t i = 0; i < at(kSizes.dim); ++i) body(place, place % at(kSizes.heads), row, i);
}
std::size_t x_at(std::size_t place, std::size_t row, std::size_t i) {
  return (place * 2 + row) * at(kSizes.dim) + i;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want, const char* what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-12) << what << ' ' << i;
}

TEST(OwnExtents, TheReferenceMultipliesAndDifferentiates) {
  const Cell layer = cell_of(kLayer), walked = cell_of(kWalked);
  testing::Random random(5);
  const std::map<std::string, double> constants{{"E", kExtent}};
  const Cell sized = with_extents(layer, constants);
  ForwardArguments<double> of_layer = testing::random_arguments(sized, kSizes, random);
  of_layer.constants = constants;  // of the cell as its text says
  const LossGradients<double> loss = testing::random_loss(sized, kSizes, random);
  const std::vector<double>&u = of_layer.inputs.at("u"), &w = of_layer.params.at("W");
  ForwardArguments<double> of_walked{{}, {{"R", of_layer.params.at("R")}}, of_layer.initial_states, {}, {}};
  std::vector<double>& x = of_walked.inputs["x"];
  x.resize(at(kSizes.batch * kSizes.time * kSizes.heads * 2 * kSizes.dim));
  each_product([&](std::size_t place, std::size_t head, std::size_t row, std::size_t i) {
    for (std::size_t e = 0; e < kExtent; ++e)
      x[x_at(place, row, i)] += w[w_at(head, row, i, e)] * u[place * kExtent + e];
  });

  const auto forward = run_forward(layer, kSizes, of_layer), plain = run_forward(walked, kSizes, of_walked);
  ASSERT_TRUE(forward) << forward.error().message;
  ASSERT_TRUE(plain) << plain.error().message;
  expect_near(forward->outputs.at("h"), plain->outputs.at("h"), "outputs");

  const auto backward = run_backward(layer, kSizes, of_layer, loss);
  const auto without = run_backward(walked, kSizes, of_walked, loss);
  ASSERT_TRUE(backward) << backward.error().message;
  ASSERT_TRUE(without) << without.error().message;
  std::vector<double> grad_u(u.size()), grad_w(w.size());
  each_product([&](std::size_t place, std::size_t head, std::size_t row, std::size_t i) {
    const double of_x = without->inputs.at("x")[x_at(place, row, i)];
    for (std::size_t e = 0; e < kExtent; ++e) {
      grad_u[place * kExtent + e] += w[w_at(head, row, i, e)] * of_x;
      grad_w[w_at(head, row, i, e)] += of_x * u[place * kExtent + e];
    }
  });
  expect_near(backward->inputs.at("u"), grad_u, "gradient of u");
  expect_near(backward->params.at("W"), grad_w, "gradient of W");
  expect_near(backward->params.at("R"), without->params.at("R"), "gradient of R");
}

TEST(OwnExtents, WhatIsNoExtentIsRefused) {
  const Cell layer = cell_of(kLayer);
  for (const double value : {0.0, -3.0, 2.5, 65'537.0, 1e300}) {
    ForwardArguments<double> arguments;
    arguments.constants["E"] = value;
    const auto run = run_forward(layer, kSizes, arguments);
    ASSERT_FALSE(run) << value;
    EXPECT_NE(run.error().message.find("the extent of a tensor"), std::string::npos) << run.error().message;
  }
  EXPECT_EQ(with_extents(layer, {{"E", 9}}).tensors[0].inner.size, 9);
  EXPECT_EQ(with_extents(layer, {}).tensors[0].inner.size, 3);
}

// A pass that mixes up extents is found.
TEST(OwnExtents, TheVerifierKnowsThem) {
  const Cell layer = cell_of(kLayer);
  ASSERT_TRUE(verify(layer).empty());
  const auto finds = [](const Cell& cell, const char* what) {
    const std::vector<std::string> defects = verify(cell);
    return !defects.empty() && defects.front().find(what) != std::string::npos;
  };
  Cell other = layer;
  other.tensors[1].inner = {};  // W[2, D, D]
  EXPECT_TRUE(finds(other, "of another extent"));
  other = layer;
  other.tensors[0].inner.size = 70'000;
  EXPECT_TRUE(finds(other, "cannot have the extent"));
  other = layer;
  other.tensors[3].outer = other.tensors[0].inner;  // the state, which is no matrix
  EXPECT_TRUE(finds(other, "cannot have the extent"));
  other = layer;
  other.tensors[3].inner = other.tensors[0].inner;
  EXPECT_TRUE(finds(other, "of another extent"));
  other = layer;
  const NodeId u = other.graph.leaf(0, 0, Extent::Vector);
  other.outputs[0].value = u;
  EXPECT_TRUE(finds(other, "another extent than the tensor"));
  other = layer;
  other.graph.reduce_sum(other.graph.leaf(0, 0, Extent::Vector));
  EXPECT_TRUE(finds(other, "of another extent"));
}

// The gradient of a matrix has factors of its extents.
TEST(OwnExtents, TheVerifierKnowsGradients) {
  const Cell layer = cell_of(kLayer);
  BackwardStep step = backward_step(layer);
  ASSERT_TRUE(verify(layer, step).empty());
  for (MatrixGradient& matrix : step.matrices)
    if (layer.tensor(matrix.tensor).inner) std::swap(matrix.left, matrix.right);
  const std::vector<std::string> defects = verify(layer, step);
  ASSERT_FALSE(defects.empty());
  EXPECT_NE(defects.front().find("has a factor of another extent"), std::string::npos) << defects.front();
}

// What a transpose gives has the extent of an input, which a walk has then.
TEST(OwnExtents, TransposesWalkTheirExtents) {
  const Cell cell = cell_of(
      "cell c(D, E = 3) {\n input u[E]\n param W[D, E]\n state h[D]\n"
      " next h = tanh(W @ (transpose(W) @ h) + W @ u)\n output h\n}");
  EXPECT_EQ(walked_extents(cell), std::vector<bool>{true});
  EXPECT_EQ(walked_extents(cell_of(kLayer)), std::vector<bool>{false});
  EXPECT_TRUE(multiplies_beside_walk(cell_of(kLayer), cell_of(kLayer).tensors[1]));
  EXPECT_FALSE(multiplies_beside_walk(cell, cell.tensors[1]));
}

// LSTM with a projection, beside one whose matrix is the product of both (Sak et al. 2014,
// https://arxiv.org/abs/1402.1128): r is W m, so that R r is (R W) m, and its gradients follow.
TEST(OwnExtents, AProjectedStateIsThatOfTheProductOfItsMatrices) {
  constexpr std::int64_t kProjected = 6;  // more than the head's channels
  const Cell projected = cell_of(
      "cell c(D, P = 9) {\n input x[2, D]\n param R[2, D, P], W[P, D]\n state r[P], c[D]\n g = R @ r + x\n"
      " next c = sigmoid(g[1]) * c + tanh(g[0])\n next r = W @ tanh(next c)\n output r\n}");
  const Cell joined = cell_of(
      "cell c(D) {\n input x[2, D]\n param Q[2, D, D]\n state m[D], c[D]\n g = Q @ m + x\n"
      " next c = sigmoid(g[1]) * c + tanh(g[0])\n next m = tanh(next c)\n output m\n}");
  testing::Random random(6);
  const std::map<std::string, double> constants{{"P", kProjected}};
  const Cell sized = with_extents(projected, constants);
  ForwardArguments<double> of_projected = testing::random_arguments(sized, kSizes, random);
  of_projected.initial_states.erase("r");
  of_projected.constants = constants;
  const std::vector<double>&r = of_projected.params.at("R"), &w = of_projected.params.at("W");
  const std::size_t dim = at(kSizes.dim), narrow = at(kProjected), heads = at(kSizes.heads);
  std::vector<double> q(heads * 2 * dim * dim);
  for (std::size_t h = 0; h < heads; ++h)
    for (std::size_t i = 0; i < 2 * dim; ++i)
      for (std::size_t j = 0; j < dim; ++j)
        for (std::size_t p = 0; p < narrow; ++p)
          q[(h * 2 * dim + i) * dim + j] += r[(h * 2 * dim + i) * narrow + p] * w[(h * narrow + p) * dim + j];
  ForwardArguments<double> of_joined{
      of_projected.inputs, {{"Q", q}}, {{"c", of_projected.initial_states.at("c")}}, {}, {}};
  const auto forward = run_forward(projected, kSizes, of_projected),
             plain = run_forward(joined, kSizes, of_joined);
  ASSERT_TRUE(forward) << forward.error().message;
  ASSERT_TRUE(plain) << plain.error().message;
  const std::size_t places = at(kSizes.batch * kSizes.time) * heads;
  const auto project = [&](const std::vector<double>& m) {  // [places, D] to [places, P]
    std::vector<double> result(m.size() / dim * narrow);
    for (std::size_t place = 0; place < m.size() / dim; ++place)
      for (std::size_t p = 0; p < narrow; ++p)
        for (std::size_t j = 0; j < dim; ++j)
          result[place * narrow + p] += w[(place % heads * narrow + p) * dim + j] * m[place * dim + j];
    return result;
  };
  ASSERT_EQ(forward->outputs.at("r").size(), places * narrow);
  expect_near(forward->outputs.at("r"), project(plain->outputs.at("m")), "outputs");
  expect_near(forward->last_states.at("r"), project(plain->last_states.at("m")), "the last state");

  LossGradients<double> loss{{{"r", testing::random_loss(sized, kSizes, random).outputs.at("r")}}, {}};
  LossGradients<double> of_m{{{"m", std::vector<double>(places * dim)}}, {}};
  for (std::size_t place = 0; place < places; ++place)
    for (std::size_t p = 0; p < narrow; ++p)
      for (std::size_t j = 0; j < dim; ++j)
        of_m.outputs["m"][place * dim + j] +=
            w[(place % heads * narrow + p) * dim + j] * loss.outputs["r"][place * narrow + p];
  const auto backward = run_backward(projected, kSizes, of_projected, loss);
  const auto without = run_backward(joined, kSizes, of_joined, of_m);
  ASSERT_TRUE(backward) << backward.error().message;
  ASSERT_TRUE(without) << without.error().message;
  expect_near(backward->inputs.at("x"), without->inputs.at("x"), "gradient of x");
  std::vector<double> grad_r(r.size());  // dR = dQ W^T
  for (std::size_t h = 0; h < heads; ++h)
    for (std::size_t i = 0; i < 2 * dim; ++i)
      for (std::size_t p = 0; p < narrow; ++p)
        for (std::size_t j = 0; j < dim; ++j)
          grad_r[(h * 2 * dim + i) * narrow + p] +=
              without->params.at("Q")[(h * 2 * dim + i) * dim + j] * w[(h * narrow + p) * dim + j];
  expect_near(backward->params.at("R"), grad_r, "gradient of R");
}

}  // namespace
}  // namespace rondo::step
