// The shape of derived steps, on cells whose derivatives are known.
#include "compiler/step/derive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/step/simplify.h"
#include "tests/step/cell_builder.h"

namespace rondo::step::testing {
namespace {

bool says(const std::string& text, const std::string& phrase) {
  return text.find(phrase) != std::string::npos;
}

TEST(Derive, LinearRecurrence) {
  CellBuilder b("affine");
  const TensorId a = b.param("a"), x = b.input("x"), h = b.state("h");
  const Value decay = b.read(a), input = b.read(x), state = b.read(h);
  b.next(h, 0, decay * state + input);
  EXPECT_EQ(print(b.cell(), backward_step(b.cell())),
            "backward affine(D)\n"
            "forward values\n"
            "  %0 = a                                     [D]\n"
            "  %1 = x                                     [D]\n"
            "  %2 = h                                     [D]\n"
            "  %3 = mul %0, %2                            [D]\n"
            "  %4 = add %3, %1                            [D]\n"
            "gradients\n"
            "  %5 = gradient of next h                    [D]\n"
            "  %6 = mul %5, %2                            [D]\n"
            "  %7 = mul %5, %0                            [D]\n"
            "  gradient of previous h = %7\n"
            "  gradient of input x = %5\n"
            "  gradient of param a = %6\n");
  EXPECT_TRUE(says(print(b.cell(), jacobian_step(b.cell())), "d next h / d h = %0\n"));
  EXPECT_TRUE(says(print(b.cell()), "  next h = %4\n"));
}

TEST(Derive, MatrixGradientsAreOuterProducts) {
  const BackwardStep step = backward_step(simplify(lstm()));
  ASSERT_EQ(step.matrices.size(), 4U);
  for (const MatrixGradient& matrix : step.matrices) {
    const Node& right = step.graph.at(matrix.right);
    EXPECT_EQ(right.kind, NodeKind::Leaf);
    EXPECT_EQ(lstm().tensors[static_cast<std::size_t>(right.tensor)].name, "h");
    // dR, db and dx of a gate are one node.
    EXPECT_EQ(step.inputs[static_cast<std::size_t>(matrix.row)].value, matrix.left);
    EXPECT_EQ(step.params[static_cast<std::size_t>(matrix.row)].value, matrix.left);
  }
}

TEST(Derive, UnusedTensorsHaveAZeroGradient) {
  CellBuilder b("c");
  const TensorId x = b.input("x", {2}), h = b.state("h");
  const Value used = b.read(x, 1);
  b.next(h, 0, used);
  const BackwardStep step = backward_step(b.cell());
  EXPECT_EQ(step.graph.at(step.inputs[0].value).kind, NodeKind::Constant);
  EXPECT_EQ(step.graph.at(step.inputs[1].value).kind, NodeKind::Gradient);
  EXPECT_EQ(step.graph.at(step.previous_states[0].value).value, 0);
}

TEST(Derive, SumsOverTheHeadWhereAScalarWasBroadcast) {
  CellBuilder b("c");
  const TensorId s = b.tensor(TensorKind::Param, "s", Tail::Scalar), h = b.state("h");
  const Value scale = b.read(s), state = b.read(h);
  b.next(h, 0, scale * state);
  const BackwardStep step = backward_step(b.cell());
  EXPECT_EQ(step.graph.at(step.params[0].value).kind, NodeKind::ReduceSum);
}

TEST(Derive, JacobianHasTheStructuralZeros) {
  CellBuilder b("c");
  const TensorId x = b.input("x"), h = b.state("h"), c = b.state("c");
  const Value input = b.read(x), old_h = b.read(h), old_c = b.read(c);
  b.next(h, 0, tanh(old_c) + input);
  b.next(c, 0, old_c * old_h);
  const JacobianStep step = jacobian_step(b.cell());
  EXPECT_EQ(step.states, 2);
  EXPECT_EQ(step.entries[0], kNoNode);
  EXPECT_NE(step.entries[1], kNoNode);
  EXPECT_EQ(step.entries[2], old_c.id);
  EXPECT_EQ(step.entries[3], old_h.id);
}

TEST(Derive, JacobianOfADenseCellIsACallersDefect) { EXPECT_THROW(jacobian_step(lstm()), std::logic_error); }

}  // namespace
}  // namespace rondo::step::testing
