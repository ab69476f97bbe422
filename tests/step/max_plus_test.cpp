// Max-plus products with a matrix of the head: their values, derivatives, rules and text.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/step/derive.h"
#include "compiler/step/serialise.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/step/tangent.h"
#include "compiler/step/verify.h"
#include "tests/step/cell_builder.h"
#include "tests/step/cell_runs.h"

namespace rondo::step::testing {
namespace {

using Numbers = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// y = maxplus(R, x), and a state that adds it up.
Cell cell_of() {
  CellBuilder b("tropical");
  const TensorId x = b.input("x"), r = b.matrix("R"), h = b.state("h");
  const Value product = b.max_plus(r, 0, b.read(x));
  b.next(h, 0, b.read(h) + product);
  b.publish("y", product);
  return b.cell();
}

constexpr Sizes sizes_of(std::int64_t dim) { return {1, 1, 1, dim}; }

ForwardArguments<double> arguments_of(const Numbers& matrix, const Numbers& x) {
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = x;
  arguments.params["R"] = matrix;
  return arguments;
}

Numbers values_of(const Numbers& matrix, const Numbers& x) {
  const Cell cell = cell_of();
  EXPECT_TRUE(verify(cell).empty());
  const auto run = run_forward(cell, sizes_of(static_cast<std::int64_t>(x.size())), arguments_of(matrix, x));
  EXPECT_TRUE(run.ok()) << run.error().message;
  return run->outputs.at("y");
}

BackwardResult<double> gradients_of(const Numbers& matrix, const Numbers& x, const Numbers& g) {
  LossGradients<double> loss;
  loss.outputs["y"] = g;
  const auto run =
      run_backward(cell_of(), sizes_of(static_cast<std::int64_t>(x.size())), arguments_of(matrix, x), loss);
  EXPECT_TRUE(run.ok()) << run.error().message;
  return *run;
}

TEST(MaxPlus, Values) {
  EXPECT_EQ(values_of({0, 1, 2, 3}, {10, 20}), (Numbers{21, 23}));
  EXPECT_EQ(values_of({0, -20, 2, 3}, {10, 20}), (Numbers{10, 23}));
  // What is forbidden adds nothing, and what is no number is passed over.
  EXPECT_EQ(values_of({-kInfinity, -1, -kInfinity, -kInfinity}, {10, 20}), (Numbers{19, -kInfinity}));
  EXPECT_EQ(values_of({0, 0, NAN, 1}, {1, 2}), (Numbers{2, 3}));
}

// Of channels that tie the first has the gradient.
TEST(MaxPlus, Gradients) {
  const BackwardResult<double> apart = gradients_of({0, 1, 2, 3}, {10, 20}, {5, 7});
  EXPECT_EQ(apart.inputs.at("x"), (Numbers{0, 12}));
  EXPECT_EQ(apart.params.at("R"), (Numbers{0, 5, 0, 7}));
  const BackwardResult<double> tied = gradients_of({1, 0, 0, 1}, {1, 2}, {5, 7});
  EXPECT_EQ(tied.inputs.at("x"), (Numbers{5, 7}));
  EXPECT_EQ(tied.params.at("R"), (Numbers{5, 0, 0, 7}));
  const BackwardResult<double> never = gradients_of(Numbers(4, -kInfinity), {1, 2}, {5, 7});
  EXPECT_EQ(never.params.at("R"), (Numbers{5, 0, 7, 0}));
}

TEST(MaxPlus, BackwardStepChoosesOnceForBothGradients) {
  EXPECT_EQ(print(cell_of(), backward_step(simplify(cell_of()))), R"(backward tropical(D)
forward values
  %0 = x                                     [D]
  %1 = maxplus R, %0                         [D]
  %2 = h                                     [D]
  %3 = add %2, %1                            [D]
gradients
  %4 = gradient of output y                  [D]
  %5 = gradient of next h                    [D]
  %6 = add %4, %5                            [D]
  %7 = argmaxplus R, %0                      [D]
  %8 = scatter_sum %6, %7                    [D]
  gradient of previous h = %5
  gradient of input x = %8
  gradient of param R += %6 at %7
)");
}

// It is not linear: signs and zeros stay where they are.
TEST(MaxPlus, SimplestForm) {
  CellBuilder b("simple");
  const TensorId x = b.input("x"), r = b.matrix("R"), h = b.state("h");
  b.next(h, 0, b.max_plus(r, 0, -b.read(x)) + b.max_plus(r, 0, b.number(0)));
  b.publish("y", b.max_plus(r, 0, -b.read(x)));
  const std::string text = print(simplify(b.cell()));
  EXPECT_NE(text.find("neg"), std::string::npos) << text;
  EXPECT_EQ(text.find("neg", text.find("neg") + 1), std::string::npos) << text;
  EXPECT_NE(text.find("= 0"), std::string::npos) << text;
  Graph zeros;
  const NodeId chosen = zeros.arg_max_plus(1, 0, zeros.leaf(0, 0, Extent::Vector));
  NodeId sum = zeros.scatter_sum(zeros.scalar(scalar::Op::Neg, {zeros.leaf(2, 0, Extent::Vector)}), chosen);
  NodeId none = zeros.scatter_sum(zeros.constant(0), chosen);
  const Graph simple = simplify(zeros, {&sum, &none}, 1);
  EXPECT_EQ(simple.at(sum).op, scalar::Op::Neg);
  EXPECT_EQ(simple.at(none).kind, NodeKind::Constant);
}

TEST(MaxPlus, IsAnotherCellThanTheProduct) {
  const Cell cell = cell_of();
  Cell plain = cell;
  for (Node& node : plain.graph.nodes)
    if (node.kind == NodeKind::MaxPlus) node.kind = NodeKind::MatVec;
  EXPECT_NE(canonical_text(cell), canonical_text(plain));
  ByteWriter writer;
  write_cell(writer, cell);
  ByteReader reader(writer.bytes());
  EXPECT_EQ(canonical_text(read_cell(reader)), canonical_text(cell));
}

TEST(MaxPlus, CouplesChannelsNonlinearly) {
  CellBuilder b("coupled");
  const TensorId h = b.state("h"), x = b.input("x"), r = b.matrix("R");
  b.next(h, 0, b.read(x) + b.max_plus(r, 0, b.read(h)));
  b.publish("y", b.read(h));
  const Structure structure = analyze(b.cell());
  EXPECT_EQ(structure.at(0, 0), Coupling::Dense);
  EXPECT_TRUE(structure.has_matrix && structure.depends_on_state(0, 0));
  EXPECT_TRUE(has_max_plus(b.cell()));
}

TEST(MaxPlus, DefectsAreFound) {
  Cell cell = cell_of();
  Node& product = *std::ranges::find_if(cell.graph.nodes, reads_matrix);
  product.tensor = 0;
  ASSERT_EQ(verify(cell).size(), 1u);
  EXPECT_NE(verify(cell)[0].find("is no matrix parameter"), std::string::npos);
  Cell scattered = cell_of();
  scattered.graph.scatter_sum(0, 1);
  ASSERT_EQ(verify(scattered).size(), 1u);
  EXPECT_NE(verify(scattered)[0].find("chooses no channels"), std::string::npos);
}

TEST(MaxPlus, HasNoTangents) {
  const Result<Cell> made = tangent(cell_of());
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("max-plus"), std::string::npos);
}

}  // namespace
}  // namespace rondo::step::testing
