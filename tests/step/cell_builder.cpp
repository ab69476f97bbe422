#include "tests/step/cell_builder.h"

namespace rondo::step::testing {

Cell mingru() {
  CellBuilder b("mingru");
  const TensorId x = b.input("x", {2}), h = b.state("h");
  const Value z = sigmoid(b.read(x, 0));
  const Value next = (1.0 - z) * b.read(h) + z * b.read(x, 1);
  b.next(h, 0, next);
  b.publish("h", next);
  return b.cell();
}

Cell lstm() {
  CellBuilder b("lstm");
  const TensorId x = b.input("x", {4}), r = b.matrix("R", {4}), bias = b.param("b", {4});
  const TensorId h = b.state("h"), c = b.state("c");
  std::vector<Value> g;
  for (int i = 0; i < 4; ++i) g.push_back(b.matvec(r, i, b.read(h)) + b.read(x, i) + b.read(bias, i));
  const Value next_c = sigmoid(g[1]) * b.read(c) + sigmoid(g[0]) * tanh(g[2]);
  const Value next_h = sigmoid(g[3]) * tanh(next_c);
  b.next(h, 0, next_h);
  b.next(c, 0, next_c);
  b.publish("h", next_h);
  return b.cell();
}

Cell diagonal_gru() {
  CellBuilder b("diagonal_gru");
  const TensorId x = b.input("x", {3}), a = b.param("a", {3}), h = b.state("h");
  const Value state = b.read(h);
  const Value z = sigmoid(b.read(x, 0) + b.read(a, 0) * state);
  const Value r = sigmoid(b.read(x, 1) + b.read(a, 1) * state);
  const Value candidate = tanh(b.read(x, 2) + r * (b.read(a, 2) * state));
  const Value next = (1.0 - z) * state + z * candidate;
  b.next(h, 0, next);
  b.publish("y", next);
  return b.cell();
}

Cell normalised() {
  CellBuilder b("normalised");
  const TensorId x = b.input("x"), h = b.state("h");
  const Value eps = b.constant("eps", 1e-3);
  const Value u = b.read(x) + b.read(h);
  const Value mean_square = b.sum(u * u) / b.head_size();
  const Value next = u * (mean_square + eps).of(scalar::Op::Rsqrt);
  b.next(h, 0, next);
  b.publish("h", next);
  return b.cell();
}

}  // namespace rondo::step::testing
