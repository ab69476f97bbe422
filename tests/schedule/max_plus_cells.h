// Cells with max-plus products, in all the ways in which a schedule meets them.
#pragma once

#include <string>
#include <vector>

#include "tests/schedule/cell_files.h"
#include "tests/schedule/over_head_cells.h"

namespace rondo::schedule {

// Exact over small integers, which tie often: products of one vector, one of a product, and a matrix of two
// vectors.
inline constexpr const char* kTropical = R"(
cell tropical(D) {
  input x[2, D]
  param R[2, D, D], S[D, D]
  state h[D], k[D]

  g = maxplus(R, h)
  next h = g[0] + x[0]
  next k = maxplus(S, g[1] - k) + x[1]
  output h, k, y = maxplus(S, h)
}
)";

// More channels than bf16 can number. Few of them attain a maximum, so that the first one that does lies
// anywhere.
inline constexpr const char* kLate = R"(
cell late(D) {
  input x[D]
  param R[D, D]
  state h[D], k[D], c[D]

  next h = maxplus(R, h + k + c) + x
  next k = h
  next c = k
  output h
}
)";

// The shipped one; beside products with @ of the same vectors and matrices; of a vector that is no state,
// whose product is read by derivatives; beside reductions; and one that no state goes through.
inline std::vector<step::Cell> max_plus_cells() {
  std::vector<step::Cell> cells = cells_of_text(R"(
cell both(D) {
  input x[2, D]
  param R[2, D, D], S[D, D], b[D]
  state h[D], c[D]

  u = maxplus(R, b * tanh(S @ h))
  next c = sigmoid(x[0] + u[0]) * c + tanh(x[1]) * maxplus(S, h)
  next h = tanh(u[1] + R[0] @ h + next c)
  output h
}
cell normed_path(D) {
  input x[D]
  param R[D, D]
  state s[D]

  v = maxplus(R, s) + x
  next s = v - max(v) + 0.1 * mean(v)
  output s
}
cell seen(D) {
  input x[D]
  param R[D, D], a[D]
  state h[D]

  next h = sigmoid(a) * h + x
  output h, y = tanh(maxplus(R, next h))
}
)");
  cells.insert(cells.begin(), cell_named("viterbi"));
  return cells;
}

}  // namespace rondo::schedule
