// Inputs with extents of their own: every strategy walks the cell without them, and their products and all
// gradients agree with the fp64 reference, whatever the extents are, in every form of the sequence.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "compiler/schedule/hoist/input_products.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/step/extents.h"
#include "compiler/step/forms.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/text_case.h"
#include "tests/schedule/text_cells.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

// A matrix of the state beside that of the input.
constexpr const char* kLstmLayer = R"(
cell layer(D, E = 12) {
  input u[E]
  param W[4, D, E], R[4, D, D], b[4, D]
  state h[D], c[D]
  g = R @ h + W @ u + b
  next c = sigmoid(g[1]) * c + sigmoid(g[0]) * tanh(g[2])
  next h = sigmoid(g[3]) * tanh(next c)
  output h
})";
// Two extents, of which one has rows; an input of the head's extent, which the step multiplies itself.
constexpr const char* kTwoExtents = R"(
cell layer(D, E = 12, F = 7) {
  input u[2, E], v[F], x[D]
  param W[2, D, E], V[D, F], R[D, D], S[D, D]
  state h[D]
  a = W @ u
  next h = 0.5 * h + tanh(R @ h + a[0, 1] + a[1, 0] * sigmoid(V @ v) + S @ x) + 0.1 * a[0, 0] + a[1, 1]
  output h
})";
// No matrix but those of inputs, one of the head's extent among them.
constexpr const char* kMinGruLayer = R"(
cell layer(D, E = 12) {
  input u[E], v[D], x[D]
  param Wz[D, E], Wh[D, E], V[D, D], bz[D]
  state h[D]
  z = sigmoid(Wz @ u + bz)
  next h = (1 - z) * h + z * (Wh @ u + V @ v + x)
  output h
})";
constexpr const char* kIndRnnLayer = R"(
cell layer(D, E = 12) {
  input u[2, E]
  param W[2, D, E], V[D, E], r[D]
  state h[D], c[D]
  x = W @ u[1]
  next c = 0.5 * c + tanh(x[0] + V @ u[0])
  next h = tanh(r * h + x[1] * (V @ u[1]) + x[0])
  output h
  output y = h + c
})";

// Extents smaller and larger than D, equal to it, odd ones, and of several tiles.
const TextCase kExtentCases[] = {
    {"persistent", kLstmLayer, {4, 19, 2, 32}, {{"E", 50}}},
    {"persistent", kTwoExtents, {4, 9, 2, 16}, {{"E", 24}, {"F", 35}}},
    {"persistent", kLstmLayer, {5, 6, 2, 64}, {{"E", 7}}},
    {"alternating", kLstmLayer, {4, 7, 2, 32}, {{"E", 1}}},
    {"alternating", kTwoExtents, {4, 5, 2, 24}, {{"E", 40}, {"F", 24}}},
    {"stream", kMinGruLayer, {4, 37, 2, 40}, {{"E", 24}}},
    {"stream", kIndRnnLayer, {4, 21, 2, 33}, {{"E", 70}}},
    {"stream", kMinGruLayer, {4, 35, 2, 16}, {{"E", 136}}},
    {"shoot", kIndRnnLayer, {4, 70, 2, 33}, {{"E", 33}}},
    {"shoot", kMinGruLayer, {4, 65, 2, 40}, {{"E", 16}}},
    {"host", kLstmLayer, {4, 35, 2, 33}, {{"E", 50}}},
    {"host", kTwoExtents, {4, 9, 2, 40}, {{"E", 17}, {"F", 64}}},
    {"host", kMinGruLayer, {4, 67, 2, 40}, {{"E", 130}}},
    {"host", kIndRnnLayer, {4, 33, 2, 17}, {{"E", 5}}},
};
const step::Forms kExtentForms[] = {{},
                                    {true, true},
                                    {false, true, true},
                                    {true, true, false, true, true},
                                    {false, false, false, false, true}};

TEST(Extents, EveryStrategyInEveryForm) {
  int number = 0;
  for (const step::Forms& forms : kExtentForms)
    for (const TextCase& of : kExtentCases) {
      const Storage storage = number % 3 == 0 ? Storage::BF16 : Storage::F32;
      if (!rondo::testing::has_turn(number++, 8)) continue;
      Case c = case_of_text(of, forms, storage);
      SCOPED_TRACE(c.name());
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << of.cell;
    }
}

// A strategy whose kernels are asked for though it would not be chosen, as those of plain plans are
// (engine/check/plain.h).
class Anyway final : public Strategy {
 public:
  explicit Anyway(const char* name) : of_(*find_strategy(name)) {}
  std::string name() const override { return of_.name(); }
  Legality serves(const target::Profile& profile) const override { return of_.serves(profile); }
  Legality legal(const Task&) const override { return {}; }
  constraint::System space(const Task& task) const override { return of_.space(task); }
  CostModel cost_model(const Task& task) const override { return of_.cost_model(task); }
  std::span<const ParameterRow> parameters() const override { return of_.parameters(); }
  int alignment(const Problem& problem, const Parameters& point) const override {
    return of_.alignment(problem, point);
  }
  KernelPlan build_kernels(const Task& task, const Parameters& point) const override {
    return of_.build_kernels(task, point);
  }

 private:
  const Strategy& of_;
};

// Plain plans: the walk has no matrix, and its strategy is one for matrices.
TEST(Extents, PlainPlansOfWalksWithoutAMatrix) {
  static const Anyway plain("alternating");
  for (const char* text : {kMinGruLayer, kIndRnnLayer}) {
    Case c{&plain, step::with_extents(cell_of_text(text), {{"E", 20}}), {}, {}, {}};
    c.problem.sizes = {3, 5, 2, 24};
    c.problem.storage = Storage::F32;
    c.problem.math = default_math(Storage::F32);
    c.parameters = {{"units", 16}, {"batch_tiles", 1}, {"warps", 4}, {"stages", 3}};
    c.backward = c.parameters;
    c.backward["vector"] = 1;
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << text;
  }
}

// Products of states may be handed on; those of such inputs are made again.
TEST(Extents, ProductsSaved) {
  Case c = case_of_text(kExtentCases[0], {false, true}, Storage::F32);
  c.problem.save_products = true;
  EXPECT_EQ(product_tensors(step::simplify(c.cell)), std::vector<TensorId>{*c.cell.find("R")});
  c.problem.pass = Pass::ForwardSave;
  c.parameters = first_point(*c.strategy, c.task());
  c.problem.pass = Pass::Backward;
  c.backward = first_point(*c.strategy, c.task());
  Comparison(std::move(c)).run();
}

// The walk has the products as an input, and no tensor of another extent than D.
TEST(Extents, NoWalkSeesThem) {
  for (const char* text : {kLstmLayer, kTwoExtents, kMinGruLayer, kIndRnnLayer}) {
    Problem problem;
    problem.sizes = {2, 16, 2, 32};
    const Task task{cell_of_text(text), problem, target::board()};
    const std::optional<InputProducts> split = input_products(task);
    ASSERT_TRUE(split.has_value()) << text;
    EXPECT_TRUE(split->own_extents);
    EXPECT_FALSE(step::has_extents(split->walked));
    EXPECT_TRUE(step::verify(split->walked).empty()) << text;
  }
}

// The problem's constants are the extents: of what callers bind, and of the cell's hash.
TEST(Extents, ConstantsSayHowLargeTensorsAre) {
  const step::Cell cell = cell_of_text(kLstmLayer);
  std::set<std::string> hashes;
  for (const double extent : {12.0, 20.0}) {
    Problem problem;
    problem.sizes = {2, 16, 2, 32};
    problem.constants["E"] = extent;
    const Task task{cell, problem, target::board()};
    EXPECT_EQ(bound_tensor({Role::Input, 0}, task, 16)->unit, 2 * extent);
    EXPECT_EQ(bound_tensor({Role::Param, 1}, task, 16)->unit, 2 * 4 * 32 * extent);
    EXPECT_EQ(bound_tensor({Role::Input, 0}, task, 16)->shape,
              extent == 12 ? "[B, T, H, 1, 12]" : "[B, T, H, 1, 20]");
    EXPECT_EQ(bound_tensor({Role::Input, 0}, task, 16)->alignment, 8) << "rows of 24 and 40 bytes";
    Problem other = problem;
    other.constants["E"] = 9;
    EXPECT_EQ(bound_tensor({Role::Input, 0}, task.with(other), 16)->unit, 2 * 9);
    EXPECT_EQ(bound_tensor({Role::Input, 0}, task.with(other), 16)->alignment, 2);
    hashes.insert(identity_of(task, "persistent", {}).cell_hash);
  }
  EXPECT_EQ(hashes.size(), 2u);
}

TEST(Extents, ARowThatNothingMultipliesIsRefused) {
  const std::string row =
      "cell c(D, E = 4) {\n input u[2, E]\n param W[D, E]\n state h[D]\n x = W @ u\n"
      " next h = 0.5 * h + select(1 < 2, x[1], x[0])\n output h\n}";
  Problem problem;
  problem.sizes = {2, 16, 2, 32};
  const Legality legality = find_strategy("stream")->legal({cell_of_text(row), problem, target::board()});
  EXPECT_FALSE(legality.legal);
  EXPECT_NE(legality.reason.find("no matrix multiplies some row"), std::string::npos) << legality.reason;
}

}  // namespace
}  // namespace rondo::schedule
