// Gradients of random cells against central differences in fp64.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <map>

#include "compiler/step/derive.h"
#include "compiler/step/forms.h"
#include "compiler/step/simplify.h"
#include "compiler/step/verify.h"
#include "tests/step/gradient_check.h"
#include "tests/step/random_cell.h"

namespace rondo::step::testing {
namespace {

constexpr Sizes kGradientSizes{2, 3, 2, 3};

TEST(RandomGradients, AgreeWithCentralDifferences) {
  long compared = 0, nonzero = 0, unusable = 0, cells_without = 0;
  double worst = 0;
  std::map<scalar::Op, int> uses;
  int draws = 0, steps = 0;
  for (int seed = 0; seed < random_cell_count(); ++seed) {
    const Cell cell = random_cell_of_seed(static_cast<std::uint64_t>(seed));
    ASSERT_TRUE(verify(cell).empty()) << verify(cell).front() << "\n" << provenance(seed, cell);
    for (const Node& node : simplify(cell).graph.nodes)
      if (node.kind == NodeKind::Scalar)
        ++uses[node.op];
      else if (node.kind == NodeKind::Uniform)
        ++draws;
      else if (node.kind == NodeKind::StepIndex)
        ++steps;
    Random random(static_cast<std::uint64_t>(seed) + 1000000);
    const ForwardArguments<double> arguments = random_arguments(cell, kGradientSizes, random);
    const LossGradients<double> loss = random_loss(cell, kGradientSizes, random);
    const GradientReport report = check_gradients(cell, kGradientSizes, arguments, loss);
    ASSERT_EQ(report.mismatch, "") << provenance(seed, cell) << print(cell, backward_step(cell));
    compared += report.compared;
    nonzero += report.nonzero;
    unusable += report.unusable;
    cells_without += report.compared == 0 ? 1 : 0;
    worst = std::max(worst, report.worst);
  }
  std::cout << compared << " gradients compared, " << nonzero << " not zero, " << unusable
            << " at kinks, worst error " << worst << " of its bound\n";
  EXPECT_GT(static_cast<double>(nonzero), 0.3 * static_cast<double>(compared));
  EXPECT_LT(static_cast<double>(unusable), 0.02 * static_cast<double>(compared));
  EXPECT_LT(static_cast<double>(cells_without), 0.01 * random_cell_count());
  EXPECT_EQ(uses.size(), static_cast<std::size_t>(scalar::kOpCount)) << "some op is in no cell";
  EXPECT_GT(draws, random_cell_count() / 4);
  EXPECT_GT(steps, random_cell_count() / 20);
}

// Cells with shifts, rotations and running sums along the channels, beside all else.
TEST(RandomGradients, OfCellsAlongTheHeadAgreeWithCentralDifferences) {
  long compared = 0, nonzero = 0;
  std::map<NodeKind, int> uses;
  for (int seed = 0; seed < random_cell_count(); ++seed) {
    Random drawn(static_cast<std::uint64_t>(seed) + 5000000);
    const bool dense = seed % 2 == 0;
    const Cell cell =
        random_cell(drawn, {.matrices = dense, .reductions = dense, .draws = seed % 3 == 0, .along = true});
    ASSERT_TRUE(verify(cell).empty()) << verify(cell).front() << "\n" << print(cell);
    for (const Node& node : simplify(cell).graph.nodes)
      if (is_along_head(node)) ++uses[node.kind];
    Random random(static_cast<std::uint64_t>(seed) + 6000000);
    const ForwardArguments<double> arguments = random_arguments(cell, kGradientSizes, random);
    const LossGradients<double> loss = random_loss(cell, kGradientSizes, random);
    const GradientReport report = check_gradients(cell, kGradientSizes, arguments, loss);
    ASSERT_EQ(report.mismatch, "") << print(cell) << print(cell, backward_step(cell));
    compared += report.compared;
    nonzero += report.nonzero;
  }
  EXPECT_GT(static_cast<double>(nonzero), 0.3 * static_cast<double>(compared));
  EXPECT_EQ(uses.size(), 4u);
  for (const auto& [kind, count] : uses) EXPECT_GT(count, random_cell_count() / 10);
}

// Cells with an input of another extent than D, smaller or larger, beside all else; in every form.
TEST(RandomGradients, OfCellsWithAnExtentOfTheirOwnAgreeWithCentralDifferences) {
  long compared = 0, nonzero = 0, products = 0;
  for (int seed = 0; seed < random_cell_count() / 5; ++seed) {
    Random drawn(static_cast<std::uint64_t>(seed) + 7000000);
    const bool dense = seed % 2 == 0;
    const Cell plain =
        random_cell(drawn, {.matrices = dense, .reductions = dense, .own_extent = seed % 3 == 0 ? 2 : 5});
    const Forms forms{seed % 4 == 1, seed % 3 == 1, seed % 5 == 1, false, seed % 5 == 2, seed % 7 == 3};
    const Cell cell = with_forms(plain, forms).value();
    ASSERT_TRUE(verify(cell).empty()) << verify(cell).front() << "\n" << print(cell);
    const BackwardStep backward = backward_step(simplify(cell));
    ASSERT_TRUE(verify(simplify(cell), backward).empty()) << verify(simplify(cell), backward).front();
    for (const MatrixGradient& matrix : backward.matrices)
      products += cell.tensor(matrix.tensor).inner ? 1 : 0;
    Random random(static_cast<std::uint64_t>(seed) + 8000000);
    const ForwardArguments<double> arguments = random_arguments(cell, kGradientSizes, random);
    const LossGradients<double> loss = random_loss(cell, kGradientSizes, random);
    const GradientReport report = check_gradients(cell, kGradientSizes, arguments, loss);
    ASSERT_EQ(report.mismatch, "") << print(cell) << print(cell, backward_step(cell));
    compared += report.compared;
    nonzero += report.nonzero;
  }
  EXPECT_GT(static_cast<double>(nonzero), 0.2 * static_cast<double>(compared));
  EXPECT_GT(products, random_cell_count() / 10);
}

// Cells of which a state, an input, a parameter and an output have another extent than D, and which multiply
// by transposes, beside all else; in every form.
TEST(RandomGradients, OfCellsWithStatesOfAnotherExtentAgreeWithCentralDifferences) {
  long compared = 0, nonzero = 0;
  for (int seed = 0; seed < random_cell_count() / 5; ++seed) {
    Random drawn(static_cast<std::uint64_t>(seed) + 9000000);
    const bool dense = seed % 2 == 0;
    const Cell plain = random_cell(drawn, {.matrices = dense,
                                           .reductions = dense,
                                           .transposes = dense,
                                           .walked_extent = seed % 3 == 0 ? 2 : 5});
    const Forms forms{seed % 4 == 1, seed % 3 == 1, seed % 5 == 1, false, seed % 5 == 2, seed % 7 == 3};
    const Cell cell = with_forms(plain, forms).value();
    ASSERT_TRUE(verify(cell).empty()) << verify(cell).front() << "\n" << print(cell);
    const BackwardStep backward = backward_step(simplify(cell));
    ASSERT_TRUE(verify(simplify(cell), backward).empty()) << verify(simplify(cell), backward).front();
    Random random(static_cast<std::uint64_t>(seed) + 9500000);
    const ForwardArguments<double> arguments = random_arguments(cell, kGradientSizes, random);
    const LossGradients<double> loss = random_loss(cell, kGradientSizes, random);
    const GradientReport report = check_gradients(cell, kGradientSizes, arguments, loss);
    ASSERT_EQ(report.mismatch, "") << print(cell) << print(cell, backward_step(cell));
    compared += report.compared;
    nonzero += report.nonzero;
  }
  EXPECT_GT(static_cast<double>(nonzero), 0.2 * static_cast<double>(compared));
}

// Cells with max-plus products, beside all else.
TEST(RandomGradients, OfCellsWithMaxPlusProductsAgreeWithCentralDifferences) {
  long compared = 0, nonzero = 0, unusable = 0, products = 0;
  for (int seed = 0; seed < random_cell_count(); ++seed) {
    Random drawn(static_cast<std::uint64_t>(seed) + 7000000);
    const Cell cell = random_cell(
        drawn,
        {.reductions = seed % 2 == 0, .draws = seed % 3 == 0, .along = seed % 5 == 0, .max_plus = true});
    ASSERT_TRUE(verify(cell).empty()) << verify(cell).front() << "\n" << print(cell);
    for (const Node& node : simplify(cell).graph.nodes) products += node.kind == NodeKind::MaxPlus ? 1 : 0;
    Random random(static_cast<std::uint64_t>(seed) + 8000000);
    const ForwardArguments<double> arguments = random_arguments(cell, kGradientSizes, random);
    const LossGradients<double> loss = random_loss(cell, kGradientSizes, random);
    const GradientReport report = check_gradients(cell, kGradientSizes, arguments, loss);
    ASSERT_EQ(report.mismatch, "") << print(cell) << print(cell, backward_step(cell));
    compared += report.compared;
    nonzero += report.nonzero;
    unusable += report.unusable;
  }
  EXPECT_GT(static_cast<double>(nonzero), 0.3 * static_cast<double>(compared));
  EXPECT_LT(static_cast<double>(unusable), 0.03 * static_cast<double>(compared));
  EXPECT_GT(products, random_cell_count() / 2);
}

}  // namespace
}  // namespace rondo::step::testing
