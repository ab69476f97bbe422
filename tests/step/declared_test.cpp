// Derivatives that a cell declares: what is differentiated, what is computed, and what is said of the step.
#include "compiler/step/declared.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/step/bounds.h"
#include "compiler/step/derive.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/step/verify.h"
#include "tests/step/cell_builder.h"
#include "tests/step/gradient_check.h"
#include "tests/step/random_cell.h"

namespace rondo::step::testing {
namespace {

using scalar::Op;

// One state h, an input x, a parameter w, a matrix R, and what `next` makes of them.
template <class Next>
Cell cell_of(const Next& next) {
  CellBuilder b("declared");
  const TensorId x = b.input("x"), w = b.param("w"), r = b.matrix("R"), h = b.state("h");
  const Value made = next(b, b.read(x), b.read(h), b.read(w), r);
  b.next(h, 0, made);
  b.publish("y", made);
  return b.cell();
}

ForwardArguments<double> arguments_of(double x, double h, double w) {
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {x};
  arguments.params = {{"w", {w}}, {"R", {2}}};
  arguments.initial_states["h"] = {h};
  return arguments;
}

// Of y, by name.
TensorMap<double> gradients_of(const Cell& cell, double x, double h, double w) {
  LossGradients<double> loss;
  loss.outputs["y"] = {1};
  const auto result = run_backward(cell, Sizes{}, arguments_of(x, h, w), loss);
  EXPECT_TRUE(result.ok());
  TensorMap<double> all = result->inputs;
  all.insert(result->params.begin(), result->params.end());
  all.insert(result->initial_states.begin(), result->initial_states.end());
  return all;
}

double value_of_cell(const Cell& cell, double x, double h, double w) {
  return run_forward(cell, Sizes{}, arguments_of(x, h, w))->outputs.at("y")[0];
}

TEST(Declared, TheValueIsOfTheFirstAndTheDerivativeOfTheSecond) {
  const Cell cell = cell_of([](CellBuilder&, Value x, Value h, Value w, TensorId) {
    return with_gradient(x * h, w * (x + h.of(Op::Square)));
  });
  EXPECT_EQ(value_of_cell(cell, 3, 5, 7), 15);
  const TensorMap<double> gradients = gradients_of(cell, 3, 5, 7);
  EXPECT_EQ(gradients.at("x")[0], 7);
  EXPECT_EQ(gradients.at("h")[0], 70);
  EXPECT_EQ(gradients.at("w")[0], 28);
}

// A product that only a declared derivative needs has gradients, and the forward pass does not compute it.
TEST(Declared, WhatOnlyADerivativeNeedsIsNotComputed) {
  const Cell cell = cell_of([](CellBuilder& b, Value x, Value h, Value w, TensorId r) {
    return with_gradient(x + w, tanh(b.matvec(r, 0, h)));
  });
  const BackwardStep step = backward_step(simplify(cell));
  EXPECT_EQ(step.matrices.size(), 1u);
  EXPECT_TRUE(verify(simplify(cell), step).empty());
  const Cell values = simplify(values_only(cell));
  EXPECT_TRUE(std::ranges::none_of(values.graph.nodes, [](const Node& node) {
    return node.kind == NodeKind::MatVec || (node.kind == NodeKind::Scalar && node.op == Op::WithGradient);
  }));
}

// Nobody reads a node with a declared derivative, in any step that is made of the cell; ids stay.
TEST(Declared, NoStepReadsIt) {
  int declaring = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Cell cell = simplify(random_cell_of_seed(seed));
    if (!declares_derivatives(cell.graph)) continue;
    ++declaring;
    const BackwardStep step = backward_step(cell);
    ASSERT_TRUE(verify(cell, step).empty()) << verify(cell, step).front();
    const auto reads_one = [&](const Graph& graph) {
      return std::ranges::any_of(graph.nodes, [&](const Node& node) {
        return std::ranges::any_of(node.operands, [&](NodeId id) { return step::value_of(graph, id) != id; });
      });
    };
    EXPECT_FALSE(reads_one(step.graph)) << provenance(seed, cell);
    EXPECT_FALSE(reads_one(values_only(cell).graph)) << provenance(seed, cell);
    if (!analyze(cell).all_diagonal) continue;
    EXPECT_FALSE(reads_one(jacobian_step(cell).graph)) << provenance(seed, cell);
  }
  EXPECT_GT(declaring, 20);
}

// Newton's method needs the derivatives of what is computed.
TEST(Declared, TheJacobianIsThatOfTheValues) {
  const Cell cell = simplify(cell_of(
      [](CellBuilder&, Value x, Value h, Value w, TensorId) { return with_gradient(tanh(h) * x, w * h); }));
  const Cell plain =
      simplify(cell_of([](CellBuilder&, Value x, Value h, Value, TensorId) { return tanh(h) * x; }));
  const auto text = [](const Cell& of) {
    const JacobianStep step = jacobian_step(of);
    return print(of, simplified({step.graph, step.entries}));
  };
  EXPECT_EQ(text(cell), text(plain));
}

TEST(Declared, WhetherAStepIsAffineSaysItsValue) {
  const auto structure = [](const auto& next) { return analyze(cell_of(next)); };
  const Structure stopped = structure([](CellBuilder& b, Value x, Value h, Value, TensorId) {
    return with_gradient(h, b.number(0)) * h + x;  // h^2 + x, whatever is differentiated
  });
  EXPECT_FALSE(stopped.affine);
  EXPECT_TRUE(stopped.depends_on_state(0, 0));
  EXPECT_TRUE(stopped.declares_derivatives);
  const Structure jumps = structure([](CellBuilder&, Value x, Value h, Value w, TensorId) {
    return with_gradient(h > x, w * h);  // affine in what is declared alone
  });
  EXPECT_FALSE(jumps.affine);
  const Structure linear = structure(
      [](CellBuilder&, Value x, Value h, Value w, TensorId) { return with_gradient(w * h + x, tanh(h)); });
  EXPECT_TRUE(linear.affine);
}

// The backward pass couples what the declared derivative does.
TEST(Declared, CouplingsAreThoseOfBoth) {
  const Structure dense = analyze(cell_of([](CellBuilder& b, Value x, Value h, Value w, TensorId r) {
    return with_gradient(w * h + x, b.matvec(r, 0, h));
  }));
  EXPECT_EQ(dense.at(0, 0), Coupling::Dense);
  EXPECT_FALSE(dense.affine);
  EXPECT_TRUE(dense.has_matrix);
  const Structure stopped = analyze(cell_of([](CellBuilder& b, Value x, Value h, Value, TensorId r) {
    return x + with_gradient(b.matvec(r, 0, h), b.number(0));
  }));
  EXPECT_EQ(stopped.at(0, 0), Coupling::Dense);
}

TEST(Declared, TheSimplifierKeepsBothSides) {
  const auto text = [](const auto& next) { return canonical_text(cell_of(next)); };
  const auto plain = [](CellBuilder&, Value x, Value h, Value, TensorId) { return x * h; };
  EXPECT_EQ(text([](CellBuilder&, Value x, Value h, Value, TensorId) { return with_gradient(x * h, h * x); }),
            text(plain));
  EXPECT_NE(text([](CellBuilder& b, Value x, Value h, Value, TensorId) {
              return with_gradient(x * h, b.number(0));
            }),
            text(plain));
  EXPECT_EQ(text([](CellBuilder& b, Value x, Value h, Value, TensorId) {
              return with_gradient(with_gradient(x, h), b.number(3)) * h;
            }),
            text([](CellBuilder& b, Value x, Value h, Value, TensorId) {
              return with_gradient(x, b.number(0)) * h;
            }));
}

TEST(Declared, BoundsAreThoseOfTheValue) {
  const Cell held = cell_of(
      [](CellBuilder&, Value x, Value h, Value, TensorId) { return with_gradient(tanh(h + x), h + x); });
  const Cell grows = cell_of(
      [](CellBuilder&, Value x, Value h, Value, TensorId) { return with_gradient(h + x, tanh(h + x)); });
  const auto stays = [](const Cell& cell) {
    return static_cast<bool>(states_within(cell, 65504)[static_cast<std::size_t>(*cell.find("h"))]);
  };
  EXPECT_TRUE(stays(held));
  EXPECT_FALSE(stays(grows));
}

}  // namespace
}  // namespace rondo::step::testing
