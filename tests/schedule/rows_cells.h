// Cells whose states have many rows.
#pragma once

#include <string>

#include "tests/schedule/text_cells.h"

namespace rondo::schedule {

// The gated delta rule, with keys short enough for random numbers.
inline step::Cell delta_rule(int keys) {
  const std::string n = std::to_string(keys);
  return cell_of_text(
      "cell delta(D) {\n input k[" + n + "], q[" + n + "], beta, g, v[D]\n state S[" + n +
      ", D]\n key = 0.2 * k\n A = sigmoid(g) * S\n"
      " next S = A + key * (sigmoid(beta) * (v - dot(key, A)))\n output o = dot(q, next S)\n}\n");
}

// A normaliser and a stabiliser beside the matrix.
inline step::Cell stabilised_memory(int keys) {
  const std::string n = std::to_string(keys);
  return cell_of_text("cell stabilised(D) {\n input q[" + n + "], k[" + n + "], v[D], i, f\n state C[" + n +
                      ", D], n[" + n +
                      "], m = -4\n log_f = -softplus(-f)\n next m = max(log_f + m, i)\n"
                      " keep = exp(log_f + m - next m)\n write = exp(i - next m)\n"
                      " next C = keep * C + write * (k * v)\n next n = keep * n + write * k\n"
                      " output h = dot(q, next C) / max(abs(dot(q, next n)), exp(-next m))\n}\n");
}

// Parameters of rows and without, an output of rows, and a state beside the matrix.
inline step::Cell rows_with_parameters(int rows) {
  const std::string n = std::to_string(rows);
  return cell_of_text("cell params(D) {\n input x[D], u[" + n + ", D]\n param a[" + n + ", D], c[" + n +
                      "], e[D], s\n state S[" + n +
                      ", D], t[D]\n next S = sigmoid(a) * S + c * x + 0.1 * u\n r = mean(S * c, rows)\n"
                      " next t = 0.5 * t + tanh(r * e) * s\n y = next S * a + r\n output y\n"
                      " output o = next t - sum(next S, rows)\n}\n");
}

}  // namespace rondo::schedule
