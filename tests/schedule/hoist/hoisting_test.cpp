// Cells whose matrices multiply inputs alone: which they are, and what stream and shoot make of them against
// the fp64 reference, with the gradients of inputs and matrices.
#include <gtest/gtest.h>

#include "compiler/schedule/hoist/input_products.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/step/forms.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/text_cells.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

// minGRU as its paper writes it.
constexpr const char* kMinGru = R"(
cell layer(D) {
  input u[D]
  param Wz[D, D], Wh[D, D], bz[D]
  state h[D]
  z = sigmoid(Wz @ u + bz)
  next h = (1 - z) * h + z * (Wh @ u)
  output h
})";
// Not affine; two inputs of which one has rows; a matrix with rows, one of whose products is used twice.
constexpr const char* kIndRnn = R"(
cell layer(D) {
  input u[2, D], v[D]
  param W[2, D, D], V[D, D], r[D], b[D]
  state h[D], c[D]
  x = W @ u[1]
  next c = 0.5 * c + tanh(x[0] + V @ u[0])
  next h = tanh(r * h + x[1] * (V @ v) + b + x[0])
  output h
  output y = h + c
})";
// Inputs beside those that are multiplied: of channels, and one value a head.
constexpr const char* kBeside = R"(
cell layer(D) {
  input u[D], x[D], m
  param W[D, D]
  state h[D]
  next h = sigmoid(x) * h + m * (W @ u)
  output o = next h + x
})";

struct LayerForm {
  const char* strategy;
  const char* cell;
  step::Sizes sizes;
};
// Whole tiles of products and parts of them, rows that 16 bytes do not divide, several heads.
const LayerForm kLayerForms[] = {{"stream", kMinGru, {3, 40, 2, 40}}, {"stream", kIndRnn, {2, 33, 1, 64}},
                                 {"stream", kBeside, {3, 21, 2, 33}}, {"stream", kMinGru, {1, 150, 1, 128}},
                                 {"shoot", kIndRnn, {2, 70, 2, 33}},  {"shoot", kMinGru, {2, 65, 1, 40}}};

Case layer_case(const LayerForm& form, const step::Cell& cell, Storage storage) {
  Case c{find_strategy(form.strategy), cell, {}, {}, {}};
  c.problem.sizes = form.sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.problem.pass = Pass::ForwardSave;
  c.parameters = first_point(*c.strategy, c.cell, c.problem);
  c.problem.pass = Pass::Backward;
  if (c.strategy->legal(c.task()).legal) c.backward = first_point(*c.strategy, c.cell, c.problem);
  return c;
}

void compare_layer(Case c) {
  SCOPED_TRACE(c.name());
  Comparison(std::move(c)).run();
}

TEST(Hoisting, EveryCellInEveryType) {
  int number = 0;
  for (const LayerForm& form : kLayerForms)
    for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32}) {
      if (!rondo::testing::has_turn(number++, 2)) continue;
      compare_layer(layer_case(form, cell_of_text(form.cell), storage));
      ASSERT_FALSE(HasFailure()) << form.cell;
    }
}

TEST(Hoisting, FormsOfTheSequence) {
  for (const step::Forms& forms : {step::Forms{true}, {false, false, true}, {true, false, true}}) {
    const step::Cell cell = step::with_forms(cell_of_text(kMinGru), forms).value();
    compare_layer(layer_case(kLayerForms[0], cell, Storage::BF16));
    ASSERT_FALSE(HasFailure());
  }
}

bool is_hoisted(const step::Cell& cell, bool save_products = false) {
  Problem problem;
  problem.sizes = {2, 16, 2, 32};
  problem.pass = Pass::ForwardSave;
  problem.save_products = save_products;
  const Task task{cell, problem, target::board()};
  const bool hoisted = input_products(task).has_value();
  EXPECT_EQ(hoisted, find_strategy("stream")->legal(task).legal);
  return hoisted;
}

TEST(Hoisting, OnlyWhatAWalkNeedNotMake) {
  EXPECT_TRUE(is_hoisted(cell_of_text(kMinGru)));
  EXPECT_FALSE(is_hoisted(cell_of_text(kMinGru), true)) << "products are handed on";
  step::Forms lengths, directions;
  lengths.lengths = directions.directions = true;
  EXPECT_FALSE(is_hoisted(step::with_forms(cell_of_text(kMinGru), lengths).value()));
  EXPECT_FALSE(is_hoisted(step::with_forms(cell_of_text(kMinGru), directions).value()));
  EXPECT_FALSE(is_hoisted(cell_named("lstm")));
  const std::string read =
      "cell c(D) {\n input u[D]\n param W[D, D]\n state h[D]\n next h = 0.5 * h + W @ u + u\n output h\n}";
  EXPECT_FALSE(is_hoisted(cell_of_text(read))) << "the input is read by itself as well";
  const std::string row =
      "cell c(D) {\n input u[2, D]\n param W[D, D]\n state h[D]\n next h = 0.5 * h + W @ u[1] + 0 * u[0]\n "
      "output h\n}";
  EXPECT_FALSE(is_hoisted(cell_of_text(row))) << "a row is not multiplied";
  const std::string made =
      "cell c(D) {\n input u[D]\n param W[D, D]\n state h[D]\n next h = 0.5 * h + W @ tanh(u)\n output h\n}";
  EXPECT_FALSE(is_hoisted(cell_of_text(made))) << "what is multiplied is no input";
}

// The walk has the products as an input, and nothing of the matrix.
TEST(Hoisting, TheWalkedCellHasNoMatrix) {
  Problem problem;
  problem.sizes = {2, 16, 2, 32};
  const Task task{cell_of_text(kIndRnn), problem, target::board()};
  const std::optional<InputProducts> split = input_products(task);
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(split->products.size(), 4u);
  EXPECT_FALSE(step::structure_of(step::simplify(split->walked)).has_matrix);
  EXPECT_EQ(split->walked.of_kind(TensorKind::Input), std::vector<TensorId>{split->made});
}

// A matrix of two vectors is packed twice, by two kernels.
TEST(Hoisting, KernelsHaveNamesOfTheirOwn) {
  Case c = layer_case(kLayerForms[1], cell_of_text(kIndRnn), Storage::BF16);
  c.problem.pass = Pass::Backward;
  KernelPlan plan = point_plan(*c.strategy, c.cell, c.problem, c.backward);
  EXPECT_TRUE(lower_plan(c.task(), plan).ok());
  plan.launches.push_back(plan.launches.front());
  const auto refused = lower_plan(c.task(), plan);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::Internal);
  EXPECT_NE(refused.error().message.find("two kernels are called"), std::string::npos);
}

}  // namespace
}  // namespace rondo::schedule
