#include "compiler/step/declared.h"

#include <algorithm>
#include <utility>

namespace rondo::step {

namespace {

bool has_declared_derivative(const Node& node) {
  return node.kind == NodeKind::Scalar && node.op == scalar::Op::WithGradient;
}

}  // namespace

bool declares_derivatives(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, has_declared_derivative);
}

NodeId value_of(const Graph& graph, NodeId id) {
  while (id != kNoNode && has_declared_derivative(graph.at(id))) id = graph.at(id).operands[0];
  return id;
}

Graph values_only(Graph graph) {
  if (!declares_derivatives(graph)) return graph;
  Graph result;
  for (Node node : graph.nodes) {
    for (NodeId& operand : node.operands) operand = value_of(graph, operand);
    result.add(std::move(node));  // of a number for the head whose derivative is a vector it becomes one too
  }
  return result;
}

Cell values_only(Cell cell) {
  for (std::vector<Row>* rows : {&cell.next, &cell.outputs})
    for (Row& row : *rows) row.value = value_of(cell.graph, row.value);
  cell.graph = values_only(std::move(cell.graph));
  return cell;
}

}  // namespace rondo::step
