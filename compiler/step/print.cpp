#include <fmt/format.h>

#include "compiler/step/derive.h"
#include "compiler/step/extents.h"
#include "compiler/step/ranges.h"
#include "compiler/step/step_ir.h"

namespace rondo::step {

namespace {

const Tensor& tensor_at(const Cell& cell, TensorId id) { return cell.tensor(id); }

const std::string& extent_name(const Cell& cell, const InnerExtent& inner) {
  return inner ? cell.constants.at(static_cast<std::size_t>(inner.const_index)).name : cell.dimension;
}

std::string shape_of(const Cell& cell, const Tensor& tensor) {
  std::vector<std::string> extents;
  for (const int extent : tensor.lead) extents.push_back(fmt::format("{}", extent));
  if (tensor.tail == Tail::Matrix) extents.push_back(extent_name(cell, tensor.outer));
  if (tensor.tail != Tail::Scalar) extents.push_back(extent_name(cell, tensor.inner));
  return extents.empty() ? "" : fmt::format("[{}]", fmt::join(extents, ", "));
}

// `h` for a tensor of one row, `x[2]` for the third of several.
std::string row_name(const Cell& cell, TensorId id, int row) {
  const Tensor& tensor = tensor_at(cell, id);
  return tensor.lead.empty() ? tensor.name : fmt::format("{}[{}]", tensor.name, row);
}

std::string operands_of(const Node& node) {
  std::vector<std::string> names;
  for (const NodeId operand : node.operands) names.push_back(fmt::format("%{}", operand));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string text_of(const Cell& cell, const Node& node) {
  switch (node.kind) {
    case NodeKind::Constant: return fmt::format("{}", node.value);
    case NodeKind::NamedConst:
      return fmt::format("const {}", cell.constants[static_cast<std::size_t>(node.const_index)].name);
    case NodeKind::Leaf: return row_name(cell, node.tensor, node.row);
    case NodeKind::Scalar: return fmt::format("{} {}", scalar::info(node.op).name, operands_of(node));
    case NodeKind::MatVec:
      if (node.operands.empty()) return "read";  // a schedule made the value before
      return fmt::format("{} @ {}", row_name(cell, node.tensor, node.row), operands_of(node));
    case NodeKind::MatTVec:
      return fmt::format("{}^T @ {}", row_name(cell, node.tensor, node.row), operands_of(node));
    case NodeKind::MaxPlus:
      return fmt::format("maxplus {}, {}", row_name(cell, node.tensor, node.row), operands_of(node));
    case NodeKind::ArgMaxPlus:
      return fmt::format("argmaxplus {}, {}", row_name(cell, node.tensor, node.row), operands_of(node));
    case NodeKind::ScatterSum: return fmt::format("scatter_sum {}", operands_of(node));
    case NodeKind::ReduceSum: return fmt::format("sum {}", operands_of(node));
    case NodeKind::ReduceMax: return fmt::format("max_over_head {}", operands_of(node));
    case NodeKind::ReduceSpread: return fmt::format("spread_over_head {}", operands_of(node));
    case NodeKind::Shift: return fmt::format("shift {} by {}", operands_of(node), node.offset);
    case NodeKind::Rotate: return fmt::format("rotate {} by {}", operands_of(node), node.offset);
    case NodeKind::PrefixSum: return fmt::format("cumsum {}", operands_of(node));
    case NodeKind::SuffixSum: return fmt::format("cumsum_from_last {}", operands_of(node));
    case NodeKind::SumRows: return fmt::format("sum_rows {}", operands_of(node));
    case NodeKind::HeadSize: return cell.dimension;
    case NodeKind::StepIndex: return "step";
    case NodeKind::Uniform: return fmt::format("uniform {} by {}", node.draw, operands_of(node));
    case NodeKind::Gradient: {
      const bool output = node.gradient.of == GradientRef::Of::Output;
      return fmt::format("gradient of {}{}", output ? "output " : "next ",
                         row_name(cell, node.gradient.tensor, node.gradient.row));
    }
  }
  return "";
}

std::string nodes_text(const Cell& cell, const Graph& graph, NodeId begin, NodeId end) {
  std::string text;
  const std::vector<InnerExtent> inner = inner_extents(cell, graph);
  for (NodeId id = begin; id < end; ++id) {
    const Node& node = graph.at(id);
    std::string line = fmt::format("  %{} = {}", id, text_of(cell, node));
    const std::string& channels = extent_name(cell, inner[static_cast<std::size_t>(id)]);
    const std::string extent = node.extent == Extent::Vector ? fmt::format("[{}]", channels) : "[]";
    text += fmt::format("{:<44} {}{}\n", line, extent, node.label.empty() ? "" : "  # " + node.label);
  }
  return text;
}

std::string rows_text(const Cell& cell, const std::vector<Row>& rows, const char* word) {
  std::string text;
  for (const Row& row : rows)
    text += fmt::format("  {} {} = %{}\n", word, row_name(cell, row.tensor, row.row), row.value);
  return text;
}

std::string header(const Cell& cell, const char* stage) {
  return fmt::format("{} {}({})\n", stage, cell.name, cell.dimension);
}

NodeId size_of(const Graph& graph) { return static_cast<NodeId>(graph.nodes.size()); }

}  // namespace

std::string print(const Cell& cell) {
  std::string text = header(cell, "step");
  for (const Tensor& tensor : cell.tensors)
    text += fmt::format("  {} {}{}{}\n", tensor_kind_name(tensor.kind), tensor.name, shape_of(cell, tensor),
                        declared_text(cell, tensor));
  for (const NamedConstant& constant : cell.constants)
    text += fmt::format("  const {} = {}\n", constant.name, constant.value);
  if (cell.clip.gradient) text += fmt::format("  clip gradient {}\n", *cell.clip.gradient);
  if (cell.direction == Direction::Reversed) text += "  reversed\n";
  if (cell.direction == Direction::Halves) text += "  directions\n";
  text += nodes_text(cell, cell.graph, 0, size_of(cell.graph));
  return text + rows_text(cell, cell.next, "next") + rows_text(cell, cell.outputs, "output");
}

std::string print(const Cell& cell, const StepGraph& step) {
  std::string text = header(cell, "graph") + nodes_text(cell, step.graph, 0, size_of(step.graph));
  for (std::size_t i = 0; i < step.roots.size(); ++i)
    text += fmt::format("  result {} = {}\n", i,
                        step.roots[i] == kNoNode ? "none" : fmt::format("%{}", step.roots[i]));
  return text;
}

std::string print(const Cell& cell, const BackwardStep& step) {
  std::string text =
      header(cell, "backward") + "forward values\n" + nodes_text(cell, step.graph, 0, step.forward_nodes);
  text += "gradients\n" + nodes_text(cell, step.graph, step.forward_nodes, size_of(step.graph));
  text += rows_text(cell, step.previous_states, "gradient of previous") +
          rows_text(cell, step.inputs, "gradient of input");
  text += rows_text(cell, step.params, "gradient of param");
  for (const MatrixGradient& matrix : step.matrices)
    text += fmt::format("  gradient of param {} += %{} {} %{}\n", row_name(cell, matrix.tensor, matrix.row),
                        matrix.left, matrix.chosen ? "at" : "(x)", matrix.right);
  return text;
}

std::string print(const Cell& cell, const JacobianStep& step) {
  std::string text =
      header(cell, "jacobian") + "forward values\n" + nodes_text(cell, step.graph, 0, step.forward_nodes);
  text += "derivatives\n" + nodes_text(cell, step.graph, step.forward_nodes, size_of(step.graph));
  for (std::size_t i = 0; i < cell.next.size(); ++i) {
    for (std::size_t j = 0; j < cell.next.size(); ++j) {
      const NodeId entry = step.entries[i * cell.next.size() + j];
      const std::string value = entry == kNoNode ? "0" : fmt::format("%{}", entry);
      text += fmt::format("  d next {} / d {} = {}\n", row_name(cell, cell.next[i].tensor, cell.next[i].row),
                          row_name(cell, cell.next[j].tensor, cell.next[j].row), value);
    }
  }
  return text;
}

}  // namespace rondo::step
