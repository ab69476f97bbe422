// A cell of tensors only, for launches that know nothing of a step: two matrices, and vectors to multiply.
#pragma once

#include "compiler/schedule/gemm/matrix_gradient.h"
#include "compiler/schedule/gemm/time_product.h"

namespace rondo::schedule::testing {

inline constexpr step::TensorId kX = 0, kR = 1, kQ = 2, kH = 3, kG = 4;
inline constexpr int kScratchRows = 3;

inline step::Cell matrices_and_vectors() {
  using step::Tail;
  using step::TensorKind;
  step::Cell cell;
  cell.name = "probe";
  const auto add = [&](TensorKind kind, const char* name, Tail tail, int rows) {
    cell.tensors.push_back({kind, name, tail, {rows}, rows, {}});
  };
  add(TensorKind::Input, "x", Tail::Vector, 3);
  add(TensorKind::Param, "R", Tail::Matrix, 4);
  add(TensorKind::Param, "Q", Tail::Matrix, 2);
  add(TensorKind::State, "h", Tail::Vector, 2);
  add(TensorKind::Input, "g", Tail::Vector, 5);
  return cell;
}

// The state before each step: one row of its history, with the other row of the initial state.
inline TimeOperand previous_state(int row) {
  return {{{Role::History, kH}, row}, true, TensorRef{Role::InitialState, kH}, 1 - row};
}
inline TimeOperand input_row(int row) { return {{{Role::Input, kX}, row}, false, {}, 0}; }
inline TimeOperand scratch_row(int row) { return {{{Role::Scratch, 0}, row}, false, {}, 0}; }
// A gradient before its step: nothing comes before the first.
inline TimeOperand shifted_scratch_row(int row) { return {{{Role::Scratch, 0}, row}, true, {}, 0}; }

// Three runs: rows 1 and 2 of R, row 0 of R to a row of its own, row 1 of Q.
inline std::vector<TimeProduct> products(const TimeOperand& vector) {
  const auto out = [](int row) { return RowRef{{Role::InputGradient, kG}, row}; };
  return {{kR, 2, vector, out(2)}, {kR, 1, vector, out(1)}, {kR, 0, vector, out(4)}, {kQ, 1, vector, out(0)}};
}

// Two rows of R with two terms each, which make one run; a row by itself; none for the last row of R and the
// first of Q.
inline std::vector<MatrixTerm> terms() {
  return {{kR, 0, scratch_row(1), previous_state(0)}, {kR, 1, scratch_row(2), previous_state(0)},
          {kR, 0, input_row(0), input_row(2)},        {kR, 1, input_row(1), input_row(2)},
          {kR, 2, input_row(0), previous_state(1)},   {kQ, 1, previous_state(1), shifted_scratch_row(0)}};
}

}  // namespace rondo::schedule::testing
