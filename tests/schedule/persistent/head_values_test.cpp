// Inputs, states and outputs with one value a head in persistent kernels: every form of a team, in the
// simulator against the fp64 reference.
#include <gtest/gtest.h>

#include "compiler/constraint/solver.h"
#include "compiler/schedule/analysis/step_stages.h"
#include "compiler/schedule/strategies.h"
#include "compiler/schedule/sweep/backward_split.h"
#include "compiler/step/clip.h"
#include "compiler/step/forms.h"
#include "compiler/step/simplify.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/over_head_cells.h"
#include "tests/schedule/persistent/dense_points.h"
#include "tests/step/random_cell.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

const Strategy* const kOfHeadValues = find_strategy("persistent");

// A mask and gates a head; a running norm that the step divides by, with a row more of what it was; and
// per-head values whose gradients are no sums, or are those of a sum of products.
std::vector<step::Cell> head_value_cells() {
  return cells_of_text(R"(
cell gated(D) {
  input x[2, D], m, k[2]
  param R[D, D], b
  state h[D]
  r = sigmoid(x[0] + R @ (m * h) + k[0])
  next h = m * r * h + (1 - r) * tanh(x[1] + b * k[1])
  output h
}
cell stabilised(D) {
  input x[D], m
  param R[D, D], g[D], s
  state h[D], n[2], c
  p = R @ h
  next n = [0.9 * n[0] + sqrt(mean(square(p)) + 0.1), n[0]]
  next c = m * c + 0.1 * n[1]
  next h = tanh(g * p / (1 + n[0]) + x + s * c)
  output h, y = next c, z = n[1] + m
}
cell of_sums(D) {
  input x[D], m[2], w
  param R[D, D]
  state h[D], n
  next n = 0.5 * n + m[0] * sum(R @ h) / D + w
  next h = tanh(x + m[1] * n + 0.3 * h)
  output y = h
}
)");
}

struct HeadValueForm {
  const char* name;
  int blocks, grid;
  bool reduce_scatter;
  int share;
};
constexpr HeadValueForm kHeadValueForms[] = {
    {"one block", 1, 0, false, 1},        {"cluster of 2", 2, 0, false, 1},
    {"cluster of 4", 4, 0, false, 1},     {"grid of 3", 3, 1, false, 1},
    {"sums in a cluster", 2, 0, true, 1}, {"sums in a grid", 3, 1, true, 1},
    {"clusters in a grid", 4, 1, true, 2}};

Case head_value_case(const step::Cell& cell, const HeadValueForm& form, int turn, const step::Sizes& sizes,
                     Storage storage) {
  Case c{kOfHeadValues, cell, {}, {}, {}, true};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.problem.pass = Pass::Backward;
  EXPECT_TRUE(kOfHeadValues->legal({cell, c.problem, {}}).legal)
      << kOfHeadValues->legal({cell, c.problem, {}}).reason;
  c.parameters = persistent_point(c.problem, form.blocks, form.grid, turn, form.reduce_scatter, form.share);
  return c;
}

std::vector<step::Cell> all_head_value_cells() {
  std::vector<step::Cell> cells = head_value_cells();
  for (const step::Cell& cell : reducing_cells_with_matrices())
    if (adds_over_head(cell)) cells.push_back(cell);
  return cells;
}

TEST(PersistentHeadValues, EveryFormAndType) {
  int turn = 0;
  for (const HeadValueForm& form : kHeadValueForms)
    for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32})
      for (const step::Cell& cell : all_head_value_cells()) {
        // Each form has each type, with the cells in turn.
        if (const int number = turn + turn / 3 + turn / 9; ++turn, !rondo::testing::has_turn(number, 3))
          continue;
        const std::int64_t dims[] = {33, 64, 40, 72};
        Comparison(head_value_case(cell, form, turn,
                                   {turn % 3 * 4 + 1, turn % 4 + 1, turn % 2 + 1, dims[turn % 4]}, storage))
            .run();
        ASSERT_FALSE(HasFailure()) << form.name;
      }
}

// Of one channel, of more than a warp has, and of blocks of which the last is not full.
TEST(PersistentHeadValues, AwkwardSizes) {
  int turn = 0;
  for (const std::int64_t dim : {1, 33, 130})
    for (const HeadValueForm& form : kHeadValueForms)
      for (const step::Cell& cell : head_value_cells()) {
        const Storage storage = ++turn % 3 == 0 ? Storage::F32 : turn % 3 == 1 ? Storage::BF16 : Storage::F16;
        if ((dim == 130 && form.share > 1) || !rondo::testing::has_turn(turn, 8)) continue;
        // Of one channel all rows, or a single rounding decides a norm of few numbers.
        Case c = head_value_case(cell, form, turn, {dim == 1 ? 17 : turn % 2 * 8 + 3, 3, 2, dim}, storage);
        c.problem.save_products = turn % 5 == 0;
        Comparison(std::move(c)).run();
        ASSERT_FALSE(HasFailure()) << form.name << " D=" << dim;
      }
}

TEST(PersistentHeadValues, FormsOfTheSequenceAndClipping) {
  int turn = 0;
  for (const step::Forms& forms : {step::Forms{true, false, false}, step::Forms{false, true, false},
                                   step::Forms{true, true, true, true}})
    for (const HeadValueForm& form :
         {kHeadValueForms[0], kHeadValueForms[1], kHeadValueForms[3], kHeadValueForms[4]})
      for (const step::Cell& plain : head_value_cells()) {
        if (!rondo::testing::has_turn(++turn, 2)) continue;
        step::Cell cell = step::with_forms(plain, forms).value();
        if (turn % 3 == 0) cell = step::clipped(cell, {0.6, 0.5}).value();
        Comparison(
            head_value_case(cell, form, turn, {5, 7, 2, 40}, turn % 2 == 0 ? Storage::BF16 : Storage::F32))
            .run();
        ASSERT_FALSE(HasFailure()) << form.name << " " << plain.name;
      }
}

// Longer than the rings of stages, and than that of a grid's words.
TEST(PersistentHeadValues, ManySteps) {
  for (const HeadValueForm& form : {kHeadValueForms[0], kHeadValueForms[3]})
    Comparison(head_value_case(head_value_cells()[1], form, 2, {3, 150, 1, 40}, Storage::BF16)).run();
}

// Producer and store warps of several kinds have the per-head values of more batch rows than a warp has
// lanes.
TEST(PersistentHeadValues, ManyBatchRows) {
  Case c = head_value_case(head_value_cells()[0], kHeadValueForms[1], 2, {30, 5, 1, 40}, Storage::F16);
  c.parameters["batch_tiles"] = 4;
  Comparison(std::move(c)).run();
}

// The gradient of a product that a sum takes up is one value a head, and so may be that of an input; for the
// gradient of the matrix it is a vector.
TEST(PersistentHeadValues, AnInputsGradientMayBeALeftFactor) {
  const step::Cell cell = cells_of_text(R"(
cell sums_products(D) {
  input x[D], w
  param R[D, D]
  state h[D], n
  next n = 0.5 * n + sum(R @ h) + w
  next h = tanh(x + n / D)
  output h
}
)")
                              .front();
  Problem problem;
  problem.pass = Pass::Backward;
  const BackwardSplit split = backward_split({step::simplify(cell), problem, {}});
  ASSERT_EQ(split.needs.step.matrices.at(0).left, split.needs.step.inputs.at(1).value);
  for (const HeadValueForm& form : {kHeadValueForms[0], kHeadValueForms[3]})
    Comparison(head_value_case(cell, form, 1, {3, 5, 2, 40}, Storage::BF16)).run();
  Case c{find_strategy("alternating"), cell, {}, {}, {}, true};
  c.problem.sizes = {3, 5, 2, 40};
  c.parameters = alternating_point(c.problem, 1);
  Comparison(std::move(c)).run();
}

// A parameter of each channel whose gradient is the same number in all of them: nothing is left to sum.
TEST(PersistentHeadValues, AParametersGradientMayBeAHeadValue) {
  const step::Cell cell = cells_of_text(R"(
cell shifts_a_sum(D) {
  input x[D]
  param R[D, D], a[D]
  state h[D]
  next h = tanh(R @ h + x + sum(h + a * mean(h)) / D)
  output h
}
)")
                              .front();
  for (const HeadValueForm& form : {kHeadValueForms[0], kHeadValueForms[1]})
    Comparison(head_value_case(cell, form, 1, {3, 5, 1, 40}, Storage::F32)).run();
}

// A sweep that multiplies nothing: no meeting for vectors orders the lines of one step's reduction before
// those of the next.
TEST(PersistentHeadValues, ASweepWithoutProducts) {
  const step::Cell cell = cells_of_text(R"(
cell multiplies_signs(D) {
  input x[D], k
  param R[D, D]
  state h[D], n
  next n = 0.5 * n + k
  next h = tanh(0.5 * h + x * n + R @ (h > 0))
  output h
}
)")
                              .front();
  Problem problem;
  problem.pass = Pass::Backward;
  ASSERT_EQ(sweep_shape({step::simplify(cell), problem, {}}).levels, 0);
  for (int form = 0; form < 4; ++form)
    Comparison(head_value_case(cell, kHeadValueForms[form], 2, {3, 7, 1, 72}, Storage::F32)).run();
}

// Points from all over the space need no more shared memory than it says.
TEST(PersistentHeadValues, SharedMemoryOfTheSpace) {
  for (const step::Cell& cell : head_value_cells())
    for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
      Problem problem;
      problem.sizes = {32, 64, 1, 72};
      problem.pass = pass;
      const constraint::System space = kOfHeadValues->space({cell, problem, target::board()});
      int seen = 0, built = 0;
      (void)constraint::enumerate(space, [&](const constraint::Assignment& point) {
        if (++seen % 89 != 1) return true;
        Parameters parameters;
        for (std::size_t i = 0; i < space.names().variables.size(); ++i)
          parameters[space.names().variables[i].name] = point.values()[i];
        const auto plan = kOfHeadValues->build({cell, problem, target::board()}, parameters);
        EXPECT_TRUE(plan.ok()) << plan.error().message;
        for (const Launch& launch : plan.value().launches)
          if (launch.kernel.name.find("_persistent_") != std::string::npos) {
            EXPECT_LE(kernel::shared_bytes(launch.kernel), point["shared_bytes"])
                << cell.name << " " << print(parameters);
          }
        return ++built < 25 && !HasFailure();
      });
      EXPECT_GE(built, 5) << cell.name << " " << pass_name(pass);
    }
}

// Cells at random that reduce, and have states, inputs, parameters and outputs with one value a head.
TEST(PersistentHeadValues, RandomCells) {
  int runs = 0;
  for (std::uint64_t seed = 1; runs < 60; ++seed) {
    step::testing::Random random(seed);
    const step::Cell cell = step::testing::random_cell(random, {true, true, seed % 3 == 0});
    Problem problem;
    if (!adds_over_head(step::simplify(cell)) ||
        !kOfHeadValues->legal({step::simplify(cell), problem, {}}).legal)
      continue;
    const std::int64_t dim = runs % 3 == 0 ? 7 : runs % 3 == 1 ? 40 : 132;
    problem.pass = Pass::Backward;
    // Sums of products want some.
    const bool multiplies = sweep_shape({step::simplify(cell), problem, {}}).levels > 0;
    const HeadValueForm& form = kHeadValueForms[runs % (!multiplies ? 4 : dim == 40 ? 7 : 6)];
    if (++runs; !rondo::testing::has_turn(runs, 7)) continue;
    Case c = head_value_case(cell, form, runs, {2, 3, runs % 2 + 1, dim}, Storage::F32);
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << form.name << " " << step::testing::provenance(seed, cell);
  }
}

}  // namespace
}  // namespace rondo::schedule
