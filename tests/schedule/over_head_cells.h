// Cells that reduce over the head, or have inputs and states with one value a head, in all the ways in which
// a schedule meets them.
#pragma once

#include <vector>

#include "compiler/step/step_ir.h"
#include "tests/schedule/text_cells.h"

namespace rondo::schedule {

// Without matrices: a norm, a softmax, per-head values of every kind, and one of a sum that no state depends
// on.
inline std::vector<step::Cell> reducing_cells() {
  return cells_of_text(R"(
cell normed(D) {
  input x[D]
  param g[D], s
  state h[D]

  v = 0.5 * h + x
  c = v - mean(v)
  next h = s * tanh(g * c * rsqrt(mean(square(c)) + 0.1))
  output h
}
cell softened(D) {
  input x[2, D]
  param w[D]
  state h[D]

  e = exp(w * h - max(w * h))
  next h = 0.5 * h + x[0] * (e / sum(e)) + 0.1 * x[1]
  output h
}
cell counted(D) {
  input x[D], m, k[2]
  param p, q, w[D]
  state h[D], n, z[2]

  next n = sigmoid(m) * n + mean(w * h) * q
  next z = [tanh(z[1] + k[0] * n), max(x * w)]
  next h = tanh(0.3 * h + k[1] * x + p * n + z[0])
  output h, y = next n * w, l = n
}
cell centred_outside(D) {
  input x[D]
  state h[D]

  next h = 0.5 * h + x
  output y = next h - mean(next h)
}
cell numbers_alone(D) {
  input x[D], m
  param s
  state h[D], n

  next n = tanh(s * n + m)
  next h = 0.5 * h + x
  output h, l = n
}
cell masked_alone(D) {
  input x[D], m
  param s
  state h[D]

  next h = m * h + s * tanh(x)
  output h
}
)");
}

// With matrices: what is reduced is a product, a result, or what is multiplied.
inline std::vector<step::Cell> reducing_cells_with_matrices() {
  return cells_of_text(R"(
cell multiplies_normal(D) {
  input x[D]
  param R[D, D], g[D]
  state h[D]

  c = h - mean(h)
  next h = tanh(R @ (g * c * rsqrt(mean(square(c)) + 0.1)) + x)
  output h
}
cell twice_normal(D) {
  input x[2, D]
  param R[2, D, D], S[D, D], a
  state h[D]

  p = R @ h
  c = p - (mean(p[0]) + mean(p[1])) / 2
  v = (mean(square(c[0])) + mean(square(c[1]))) / 2
  n = c * rsqrt(v + 0.1)
  r = sigmoid(n[0] + x[0])
  q = S @ (r * n[1])
  next h = 0.5 * h + a * tanh(q + x[1] - sum(q * x[0]) / D)
  output h
}
cell masks(D) {
  input x[D], m, k[2]
  param R[D, D], b, s
  state h[D], n

  next n = m * n + k[0] * sum(h) / 8
  next h = tanh(R @ (m * h) + s * x + b * n + k[1])
  output h, y = n
}
cell far_from_zero(D) {
  input x[D]
  param R[D, D]
  state h[D]

  v = R @ h + x + 1000
  c = v - mean(v)
  next h = 0.5 * h + c * rsqrt(mean(square(c)) + 0.01)
  output h
}
cell attends(D) {
  input x[D]
  param R[D, D]
  state h[D]

  p = R @ h
  e = exp(p - max(p))
  next h = 0.5 * h + x * (e / sum(e))
  output h
}
)");
}

// Along the channels, without matrices: shifts and rotations to both sides and further than a head is long,
// running sums, several one after the other, beside reductions, of inputs alone, and into outputs alone.
inline std::vector<step::Cell> along_cells() {
  return cells_of_text(R"(
fn softmax(v) {
  e = exp(v - max(v))
  e / sum(e)
}
cell leaks(D) {
  input x[D]
  param w[2, D]
  state h[D]

  next h = tanh(0.5 * h + w[0] * shift(h, 1) - 0.3 * shift(w[1] * h, -3) + x)
  output h
}
cell circulates(D) {
  input x[2, D]
  param w[D]
  state h[D]

  next h = tanh(w * rotate(h, 2) - 0.3 * rotate(x[1] * h, -1) + 0.2 * rotate(x[0], 100) + shift(x[0], 70))
  output h
}
cell accumulates(D) {
  input x[D]
  param w[D]
  state h[D]

  next h = 0.5 * h + tanh(cumsum(w * h) / D + x)
  output h
}
cell masters(D) {
  input x[4, D]
  param a[2, D]
  state h[D], c[D]

  mf = cumsum(softmax(x[0] + a[0] * h))
  mi = 1 - cumsum(softmax(x[1] + a[1] * h))
  next c = mf * c + mi * tanh(x[2])
  next h = sigmoid(x[3]) * tanh(next c)
  output h
}
cell chained(D) {
  input x[D], m
  param s
  state h[D], n

  a = cumsum(rotate(h, 3) * x) / D
  b = a - mean(a)
  c = shift(cumsum(b) / D + n, -2)
  next n = 0.5 * n + m * mean(c * x)
  next h = 0.5 * h + s * tanh(c + shift(a, 1))
  output h, l = n, y = cumsum(next h) / D
}
cell of_inputs(D) {
  input x[D]
  state h[D]

  next h = 0.5 * h + cumsum(x) / D
  output h, y = shift(next h, 1)
}
)");
}

// With matrices: of products, of states, and of what is summed up.
inline std::vector<step::Cell> along_cells_with_matrices() {
  return cells_of_text(R"(
cell couples(D) {
  input x[D]
  param R[D, D]
  state h[D], c[D]

  next c = 0.5 * c + rotate(h, -2) * x
  next h = tanh(R @ h + 0.3 * shift(c, 1) + x)
  output h
}
cell sums_products(D) {
  input x[2, D]
  param R[2, D, D], b[D]
  state h[D]

  p = R @ h
  a = cumsum(tanh(p[0] + x[0])) / D
  q = a - mean(a)
  next h = tanh(p[1] + shift(cumsum(q), 3) / 4 - rotate(q, 1) * b + x[1])
  output h
}
)");
}

// Where a maximum is attained decides its gradient: for fp32 alone, in which rounding does not move it.
inline step::Cell cell_of_maxima() {
  return cells_of_text(R"(
cell peaks(D) {
  input x[D]
  param R[D, D], w[D]
  state h[D]

  p = R @ h
  next h = tanh(p + x - 0.5 * max(w * p)) + 0.25 * max(-h)
  output h
}
)")
      .front();
}

}  // namespace rondo::schedule
