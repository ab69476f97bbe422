#include "compiler/step/structure.h"

#include <gtest/gtest.h>

#include "tests/step/cell_builder.h"

namespace rondo::step::testing {
namespace {

using scalar::Op;

bool says(const std::string& text, const std::string& phrase) {
  return text.find(phrase) != std::string::npos;
}

TEST(Structure, MinGruIsAffine) {
  const Structure s = analyze(mingru());
  EXPECT_EQ(s.states, 1);
  EXPECT_EQ(s.at(0, 0), Coupling::Diagonal);
  EXPECT_FALSE(s.state_dependent[0]);
  EXPECT_TRUE(s.affine);
  const std::string text = describe(mingru(), s);
  EXPECT_TRUE(says(text, "affine diagonal recurrence")) << text;
  EXPECT_TRUE(says(text, "next h depends on h: channel by channel, with a derivative free of the state"))
      << text;
  EXPECT_FALSE(says(text, "matrix")) << text;
}

// Rows of which the same is true stand in one line.
TEST(Structure, EqualLinesAreFolded) {
  CellBuilder b("rows");
  const TensorId h = b.state("h", {4});
  const Value all = b.read(h, 0) + b.read(h, 1) + b.read(h, 2) + b.read(h, 3);
  b.next(h, 0, all);
  b.next(h, 1, b.read(h, 0));
  b.next(h, 2, b.read(h, 1));
  b.next(h, 3, 0.5 * all);
  const Cell cell = b.cell();
  EXPECT_EQ(describe(cell, analyze(cell)),
            "rows: an affine diagonal recurrence: linear in the state, each channel on its own\n"
            "  next h[0, 3] depend on h[0..3]: channel by channel, with a derivative free of the state\n"
            "  next h[1..2] depend on h[0..1], row by row: channel by channel, with a derivative free of the "
            "state\n");
}

TEST(Structure, DiagonalGruIsNotAffine) {
  const Structure s = analyze(diagonal_gru());
  EXPECT_TRUE(s.all_diagonal);
  EXPECT_TRUE(s.state_dependent[0]);
  EXPECT_FALSE(s.affine);
  EXPECT_TRUE(says(describe(diagonal_gru(), s), "a nonlinear diagonal recurrence"));
}

TEST(Structure, LstmIsDenseInHAndDiagonalInC) {
  const Structure s = analyze(lstm());
  EXPECT_TRUE(s.has_matrix);
  EXPECT_FALSE(s.all_diagonal);
  EXPECT_EQ(s.at(0, 0), Coupling::Dense);
  EXPECT_EQ(s.at(0, 1), Coupling::Diagonal);
  EXPECT_EQ(s.at(1, 0), Coupling::Dense);
  EXPECT_EQ(s.at(1, 1), Coupling::Diagonal);
  EXPECT_TRUE(s.state_dependent[3]);  // the forget gate sees h
  const std::string text = describe(lstm(), s);
  EXPECT_TRUE(
      says(text, "next h depends on h: dense within a head, with a derivative that depends on the state"))
      << text;
  EXPECT_TRUE(says(text, "the step multiplies by a matrix of the head")) << text;
}

TEST(Structure, ProductsOfInputsWaitForNoStep) {
  for (const bool of_state : {false, true}) {
    CellBuilder b("layer");
    const TensorId u = b.input("u"), w = b.matrix("W"), h = b.state("h");
    b.next(h, 0, 0.5 * b.read(h, 0) + b.matvec(w, 0, of_state ? b.read(h, 0) : b.read(u, 0)) + b.read(u, 0));
    const Cell cell = b.cell();
    const std::string text = describe(cell, analyze(cell));
    EXPECT_EQ(says(text, "multiplies inputs alone by a matrix of the head, which waits for no step"),
              !of_state)
        << text;
    EXPECT_EQ(says(text, "multiplies by a matrix of the head"), of_state) << text;
  }
}

TEST(Structure, ReductionsAreDense) {
  const Structure s = analyze(normalised());
  EXPECT_TRUE(s.has_reduction);
  EXPECT_TRUE(says(describe(normalised(), s), "the step reduces over the head"));
  EXPECT_EQ(s.at(0, 0), Coupling::Dense);
  EXPECT_TRUE(s.state_dependent[0]);
}

// A cell with one state h, an input x and what `next` makes of them.
template <class Next>
Structure structure_of(const Next& next) {
  CellBuilder b("c");
  const TensorId x = b.input("x"), h = b.state("h"), r = b.matrix("R");
  b.next(h, 0, next(b, b.read(x), b.read(h), r));
  return analyze(b.cell());
}

TEST(Structure, LinearDenseRecurrenceHasAConstantDerivative) {
  const Structure s =
      structure_of([](CellBuilder& b, Value x, Value h, TensorId r) { return b.matvec(r, 0, h) + x; });
  EXPECT_EQ(s.at(0, 0), Coupling::Dense);
  EXPECT_FALSE(s.state_dependent[0]);
  EXPECT_FALSE(s.affine);  // affine means an exact scan channel by channel
}

TEST(Structure, NonlinearityAfterTheMatrixDependsOnTheState) {
  const Structure s =
      structure_of([](CellBuilder& b, Value x, Value h, TensorId r) { return tanh(b.matvec(r, 0, h) + x); });
  EXPECT_TRUE(s.state_dependent[0]);
}

// The derivative of a step function is zero, and yet it is no affine recurrence.
TEST(Structure, JumpsAreNotAffine) {
  EXPECT_FALSE(
      structure_of([](CellBuilder&, Value x, Value h, TensorId) { return select(h > x, x, h); }).affine);
  EXPECT_FALSE(
      structure_of([](CellBuilder&, Value x, Value h, TensorId) { return x * h.of(Op::Sign); }).affine);
  EXPECT_FALSE(structure_of([](CellBuilder&, Value, Value h, TensorId) { return h.of(Op::Relu); }).affine);
  EXPECT_TRUE(structure_of([](CellBuilder& b, Value x, Value h, TensorId) {
                return select(x > b.number(0), h, x);
              }).affine);
}

TEST(Structure, ASelectOnASumOverTheHeadIsDense) {
  const auto next = [](CellBuilder& b, Value x, Value h, TensorId) {
    return select(b.sum(h) > b.number(0), x, h);
  };
  EXPECT_EQ(structure_of(next).at(0, 0), Coupling::Dense);
}

TEST(Structure, DeadCouplingDoesNotCount) {
  const auto next = [](CellBuilder& b, Value x, Value h, TensorId r) {
    return select(b.number(1), x + h, b.matvec(r, 0, h));
  };
  const Structure s = structure_of(next);
  EXPECT_TRUE(s.affine);
  EXPECT_FALSE(s.has_matrix);
}

TEST(Structure, HeadWideInputsLeaveTheRecurrenceDiagonal) {
  const auto next = [](CellBuilder& b, Value x, Value h, TensorId) { return h * b.sum(x); };
  const Structure s = structure_of(next);
  EXPECT_TRUE(s.affine);
  EXPECT_TRUE(s.has_reduction);
}

TEST(Structure, NoRecurrence) {
  const Structure s = structure_of([](CellBuilder&, Value x, Value, TensorId) { return x; });
  EXPECT_EQ(s.at(0, 0), Coupling::None);
  EXPECT_TRUE(s.affine);
}

// A value of the head read by every channel couples none of them, unless it follows a channel itself.
TEST(Structure, ScalarStates) {
  CellBuilder b("c");
  const TensorId x = b.tensor(TensorKind::Input, "x", Tail::Scalar), h = b.state("h");
  const TensorId m = b.tensor(TensorKind::State, "m", Tail::Scalar);
  b.next(h, 0, b.read(h) + b.read(m));
  b.next(m, 0, b.read(m) * b.read(x));
  const Structure s = analyze(b.cell());
  EXPECT_EQ(s.at(0, 0), Coupling::Diagonal);
  EXPECT_EQ(s.at(0, 1), Coupling::Diagonal);
  EXPECT_EQ(s.at(1, 0), Coupling::None);
  EXPECT_EQ(s.at(1, 1), Coupling::Diagonal);
  EXPECT_TRUE(s.all_diagonal);
  EXPECT_TRUE(s.affine) << "of a value of the head that no vector multiplies";
}

TEST(Structure, ScalarStatesThatFollowChannels) {
  CellBuilder b("c");
  const TensorId h = b.state("h");
  const TensorId m = b.tensor(TensorKind::State, "m", Tail::Scalar);
  b.next(h, 0, b.read(h) + b.read(m));
  b.next(m, 0, b.sum(b.read(h)));
  const Structure s = analyze(b.cell());
  EXPECT_EQ(s.at(0, 0), Coupling::Diagonal);
  EXPECT_EQ(s.at(1, 0), Coupling::Dense);
  EXPECT_FALSE(s.all_diagonal);
}

// mLSTM: what all channels read of the head, normaliser and stabiliser, follows gates of the head alone.
TEST(Structure, NormalisersOfTheHeadLeaveTheChannelsAlone) {
  CellBuilder b("mlstm");
  const TensorId i = b.tensor(TensorKind::Input, "i", Tail::Scalar), v = b.input("v");
  const TensorId c = b.state("C");
  const TensorId m = b.tensor(TensorKind::State, "m", Tail::Scalar);
  const Value next_m = max(b.read(m), b.read(i));
  const Value keep = (b.read(m) - next_m).of(Op::Exp);
  b.next(c, 0, keep * b.read(c) + b.read(v));
  b.next(m, 0, next_m);
  const Cell cell = b.cell();
  const Structure s = analyze(cell);
  EXPECT_TRUE(s.all_diagonal);
  EXPECT_FALSE(s.affine) << "keep follows m";
  const std::string text = describe(cell, s);
  EXPECT_TRUE(says(text, "each channel on its own, beside values of the head that follow no channel"))
      << text;
  EXPECT_TRUE(says(text, "next C depends on m: each channel on one value of the head")) << text;
}

}  // namespace
}  // namespace rondo::step::testing
