// Shifts, rotations and running sums along the channels of a head: their values, derivatives, rules and text.
#include <gtest/gtest.h>

#include "compiler/step/bounds.h"
#include "compiler/step/derive.h"
#include "compiler/step/serialise.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/step/verify.h"
#include "tests/step/cell_builder.h"
#include "tests/step/cell_runs.h"

namespace rondo::step::testing {
namespace {

using Numbers = std::vector<double>;

struct Along {
  NodeKind kind;
  int offset;
};

// y = along(x), and a state that adds it up.
Cell cell_of(const Along& along) {
  CellBuilder b("along");
  const TensorId x = b.input("x"), h = b.state("h");
  const Value moved{&b.graph(), b.graph().along_head(along.kind, b.read(x).id, along.offset)};
  b.next(h, 0, b.read(h) + moved);
  b.publish("y", moved);
  return b.cell();
}

Numbers values_of(const Along& along, const Numbers& x) {
  const Cell cell = cell_of(along);
  EXPECT_TRUE(verify(cell).empty());
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = x;
  const auto run = run_forward(cell, {1, 1, 1, static_cast<std::int64_t>(x.size())}, arguments);
  EXPECT_TRUE(run.ok()) << run.error().message;
  return run->outputs.at("y");
}

Numbers gradient_of(const Along& along, const Numbers& g) {
  LossGradients<double> loss;
  loss.outputs["y"] = g;
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = g;
  const auto run =
      run_backward(cell_of(along), {1, 1, 1, static_cast<std::int64_t>(g.size())}, arguments, loss);
  EXPECT_TRUE(run.ok()) << run.error().message;
  return run->inputs.at("x");
}

TEST(AlongTheHead, Values) {
  EXPECT_EQ(values_of({NodeKind::Shift, 1}, {1, 2, 3, 4}), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(values_of({NodeKind::Shift, -2}, {1, 2, 3, 4}), (Numbers{3, 4, 0, 0}));
  EXPECT_EQ(values_of({NodeKind::Shift, 4}, {1, 2, 3, 4}), (Numbers{0, 0, 0, 0}));
  EXPECT_EQ(values_of({NodeKind::Shift, -9}, {1, 2, 3, 4}), (Numbers{0, 0, 0, 0}));
  EXPECT_EQ(values_of({NodeKind::Rotate, 1}, {1, 2, 3, 4}), (Numbers{4, 1, 2, 3}));
  EXPECT_EQ(values_of({NodeKind::Rotate, -6}, {1, 2, 3, 4}), (Numbers{3, 4, 1, 2}));
  EXPECT_EQ(values_of({NodeKind::PrefixSum, 0}, {1, 2, 3, 4}), (Numbers{1, 3, 6, 10}));
  EXPECT_EQ(values_of({NodeKind::SuffixSum, 0}, {1, 2, 3, 4}), (Numbers{10, 9, 7, 4}));
}

TEST(AlongTheHead, Gradients) {
  EXPECT_EQ(gradient_of({NodeKind::Shift, 1}, {1, 2, 3, 4}), (Numbers{2, 3, 4, 0}));
  EXPECT_EQ(gradient_of({NodeKind::Rotate, 1}, {1, 2, 3, 4}), (Numbers{2, 3, 4, 1}));
  EXPECT_EQ(gradient_of({NodeKind::PrefixSum, 0}, {1, 2, 3, 4}), (Numbers{10, 9, 7, 4}));
  EXPECT_EQ(gradient_of({NodeKind::SuffixSum, 0}, {1, 2, 3, 4}), (Numbers{1, 3, 6, 10}));
}

TEST(AlongTheHead, SimplestForm) {
  CellBuilder b("simple");
  const TensorId x = b.input("x"), s = b.tensor(TensorKind::Param, "s", Tail::Scalar), h = b.state("h");
  const auto along = [&](NodeKind kind, Value v, int offset) {
    return Value{&b.graph(), b.graph().along_head(kind, v.id, offset)};
  };
  const Value before = along(NodeKind::Shift, b.read(h), 0), same = along(NodeKind::Rotate, b.read(s), 3);
  b.next(h, 0, before + same);
  b.publish("zero", along(NodeKind::PrefixSum, b.number(0), 0));
  b.publish("negative", along(NodeKind::PrefixSum, -b.read(x), 0));
  const Value once = along(NodeKind::Shift, b.read(x), 1), twice = along(NodeKind::Shift, b.read(x), 2);
  b.publish("twice", once - twice);
  b.publish("of_numbers", along(NodeKind::Shift, b.read(s), 1));
  EXPECT_EQ(print(simplify(b.cell())), R"(step simple(D)
  input x[D]
  param s
  state h[D]
  output zero[D]
  output negative[D]
  output twice[D]
  output of_numbers[D]
  %0 = h                                     [D]
  %1 = s                                     []
  %2 = add %0, %1                            [D]
  %3 = 0                                     []
  %4 = x                                     [D]
  %5 = cumsum %4                             [D]
  %6 = neg %5                                [D]
  %7 = shift %4 by 1                         [D]
  %8 = shift %4 by 2                         [D]
  %9 = sub %7, %8                            [D]
  %10 = shift %1 by 1                        [D]
  next h = %2
  output zero = %3
  output negative = %6
  output twice = %9
  output of_numbers = %10
)");
}

TEST(AlongTheHead, DistanceAndKindAreOfTheCell) {
  std::vector<std::string> texts, bytes;
  for (const Along& along : {Along{NodeKind::Shift, 1},
                             {NodeKind::Shift, -1},
                             {NodeKind::Shift, 2},
                             {NodeKind::Rotate, 1},
                             {NodeKind::PrefixSum, 0},
                             {NodeKind::SuffixSum, 0}}) {
    const Cell cell = cell_of(along);
    ByteWriter writer;
    write_cell(writer, cell);
    ByteReader reader(writer.bytes());
    EXPECT_EQ(canonical_text(read_cell(reader)), canonical_text(cell));
    for (const std::string& text : texts) EXPECT_NE(text, canonical_text(cell));
    texts.push_back(canonical_text(cell));
  }
}

TEST(AlongTheHead, CouplesChannels) {
  CellBuilder b("coupled");
  const TensorId h = b.state("h"), c = b.state("c"), x = b.input("x");
  b.next(h, 0, b.read(c) * b.read(x));
  b.next(c, 0, Value{&b.graph(), b.graph().along_head(NodeKind::PrefixSum, b.read(h).id)});
  b.publish("y", b.read(h));
  const Structure structure = analyze(b.cell());
  EXPECT_EQ(structure.at(1, 0), Coupling::Dense);
  EXPECT_EQ(structure.at(0, 1), Coupling::Diagonal);
  EXPECT_FALSE(structure.all_diagonal || structure.affine || structure.has_reduction || structure.has_matrix);
  EXPECT_TRUE(structure.has_along);
  EXPECT_NE(describe(b.cell(), structure).find("the step shifts or sums up along the channels of the head\n"),
            std::string::npos);
}

TEST(AlongTheHead, Bounds) {
  const auto stays = [](const Along& along) {
    CellBuilder b("bounded");
    const TensorId x = b.input("x"), h = b.state("h");
    const Value moved{&b.graph(), b.graph().along_head(along.kind, b.read(h).id, along.offset)};
    b.next(h, 0, 0.5 * moved + 0.5 * tanh(b.read(x)));
    b.publish("y", b.read(h));
    return bool{states_within(simplify(b.cell()), 100)[1]};
  };
  EXPECT_TRUE(stays({NodeKind::Shift, 1}));
  EXPECT_TRUE(stays({NodeKind::Rotate, -1}));
  EXPECT_FALSE(stays({NodeKind::PrefixSum, 0}));
  EXPECT_FALSE(stays({NodeKind::SuffixSum, 0}));
}

}  // namespace
}  // namespace rondo::step::testing
