// Cells for tests, written in C++ without the frontend.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/step/step_ir.h"

namespace rondo::step::testing {

class CellBuilder;

// A node with the operators of the cell language.
struct Value {
  Graph* graph = nullptr;
  NodeId id = kNoNode;

  Value make(scalar::Op op, std::vector<NodeId> operands) const {
    return {graph, graph->scalar(op, std::move(operands))};
  }
  Value of(scalar::Op op) const { return make(op, {id}); }
};
inline Value operator+(Value a, Value b) { return a.make(scalar::Op::Add, {a.id, b.id}); }
inline Value operator-(Value a, Value b) { return a.make(scalar::Op::Sub, {a.id, b.id}); }
inline Value operator*(Value a, Value b) { return a.make(scalar::Op::Mul, {a.id, b.id}); }
inline Value operator/(Value a, Value b) { return a.make(scalar::Op::Div, {a.id, b.id}); }
inline Value operator-(Value a) { return a.of(scalar::Op::Neg); }
inline Value operator>(Value a, Value b) { return a.make(scalar::Op::Greater, {a.id, b.id}); }
inline Value operator+(double a, Value b) { return Value{b.graph, b.graph->constant(a)} + b; }
inline Value operator-(double a, Value b) { return Value{b.graph, b.graph->constant(a)} - b; }
inline Value operator*(double a, Value b) { return Value{b.graph, b.graph->constant(a)} * b; }
inline Value sigmoid(Value a) { return a.of(scalar::Op::Sigmoid); }
inline Value tanh(Value a) { return a.of(scalar::Op::Tanh); }
inline Value max(Value a, Value b) { return a.make(scalar::Op::Max, {a.id, b.id}); }
inline Value with_gradient(Value a, Value smooth) {
  return a.make(scalar::Op::WithGradient, {a.id, smooth.id});
}
inline Value select(Value c, Value a, Value b) { return a.make(scalar::Op::Select, {c.id, a.id, b.id}); }

class CellBuilder {
 public:
  explicit CellBuilder(std::string name) { cell_.name = std::move(name); }

  TensorId tensor(TensorKind kind, std::string name, Tail tail = Tail::Vector, std::vector<int> lead = {}) {
    Tensor tensor{kind, std::move(name), tail, std::move(lead), 1, {}};
    for (const int extent : tensor.lead) tensor.rows *= extent;
    cell_.tensors.push_back(tensor);
    return static_cast<TensorId>(cell_.tensors.size() - 1);
  }
  TensorId input(std::string name, std::vector<int> lead = {}) {
    return tensor(TensorKind::Input, std::move(name), Tail::Vector, std::move(lead));
  }
  TensorId param(std::string name, std::vector<int> lead = {}) {
    return tensor(TensorKind::Param, std::move(name), Tail::Vector, std::move(lead));
  }
  TensorId matrix(std::string name, std::vector<int> lead = {}) {
    return tensor(TensorKind::Param, std::move(name), Tail::Matrix, std::move(lead));
  }
  // Gives tensors an extent of the cell's own in the place of D.
  void own_extent(const std::string& name, std::int64_t size, const std::vector<TensorId>& tensors,
                  const std::vector<TensorId>& outputs_of_matrices = {}) {
    cell_.constants.push_back({name, static_cast<double>(size), {}});
    const InnerExtent extent{static_cast<int>(cell_.constants.size()) - 1, size};
    for (const TensorId id : tensors) cell_.tensors[static_cast<std::size_t>(id)].inner = extent;
    for (const TensorId id : outputs_of_matrices) cell_.tensors[static_cast<std::size_t>(id)].outer = extent;
  }
  void share_extent(TensorId from, TensorId to) {
    cell_.tensors[static_cast<std::size_t>(to)].inner = cell_.tensors[static_cast<std::size_t>(from)].inner;
  }
  TensorId state(std::string name, std::vector<int> lead = {}) {
    return tensor(TensorKind::State, std::move(name), Tail::Vector, std::move(lead));
  }

  Value read(TensorId id, int row = 0) {
    const bool scalar = cell_.tensors[static_cast<std::size_t>(id)].tail == Tail::Scalar;
    return value(graph().leaf(id, row, scalar ? Extent::Scalar : Extent::Vector));
  }
  Value number(double x) { return value(graph().constant(x)); }
  Value constant(std::string name, double x) {
    cell_.constants.push_back({std::move(name), x, {}});
    return value(graph().named_constant(static_cast<int>(cell_.constants.size()) - 1));
  }
  Value matvec(TensorId matrix, int row, Value v) { return value(graph().matvec(matrix, row, v.id)); }
  Value max_plus(TensorId matrix, int row, Value v) { return value(graph().max_plus(matrix, row, v.id)); }
  Value sum(Value v) { return value(graph().reduce_sum(v.id)); }
  Value maximum(Value v) { return value(graph().reduce_max(v.id)); }
  Value uniform(const std::string& draw, Value seed) { return value(graph().uniform(draw, seed.id)); }
  Value step_index() { return value(graph().step_index()); }
  Value head_size() { return value(graph().head_size()); }

  // In tensor then row order.
  void next(TensorId state, int row, Value v) { cell_.next.push_back({state, row, v.id}); }
  void output(TensorId output, int row, Value v) { cell_.outputs.push_back({output, row, v.id}); }
  TensorId publish(std::string name, Value v) {
    const TensorId id = tensor(TensorKind::Output, std::move(name));
    output(id, 0, v);
    return id;
  }

  Graph& graph() { return cell_.graph; }
  Cell& cell() { return cell_; }

 private:
  Value value(NodeId id) { return {&cell_.graph, id}; }
  Cell cell_;
};

// Cells of the library (cells/*.cell), the ones the tests here need.
Cell mingru();
Cell lstm();
Cell diagonal_gru();
Cell normalised();  // h divided by its root mean square over the head: dense through a reduction

}  // namespace rondo::step::testing
