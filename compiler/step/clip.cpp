#include "compiler/step/clip.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/step/forms.h"
#include "compiler/step/simplify.h"
#include "compiler/step/tangent.h"
#include "compiler/support/index.h"

namespace rondo::step {

using scalar::Op;

namespace {

// Nodes that some matrix product depends on.
std::vector<bool> multiplied(const Graph& graph) {
  std::vector<bool> reaches(graph.nodes.size(), false);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    if (!is_product(node) && !reaches[i]) continue;
    for (const NodeId operand : node.operands) reaches[at(operand)] = true;
  }
  return reaches;
}

// Kernels compute in fp32, so that is what a bound must be a number of.
Status check_bound(const char* what, const std::optional<double>& bound) {
  if (!bound) return success();
  const auto single = static_cast<float>(*bound);
  if (std::isfinite(*bound) && std::isfinite(single) && single > 0) return success();
  return Error{ErrorKind::Input,
               fmt::format("{} {}: the bound must be a positive number of fp32", what, *bound),
               "leave it out for no clipping"};
}

Status check_clip(const Cell& cell, const Clip& clip) {
  if (Status status = check_bound("clip_forward", clip.forward); !status) return status;
  if (Status status = check_bound("clip_gradient", clip.gradient); !status) return status;
  if ((cell.clip.any() || cell.has_tangents) && clip.any())
    return Error{
        ErrorKind::Input,
        fmt::format("cell {} {} already", cell.name, cell.has_tangents ? "has tangents" : "is clipped"),
        "clip the cell as parsed"};
  return success();
}

void clamp_carries(Cell& cell, double bound) {
  const std::vector<bool> recurrent = recurrent_rows(cell);
  std::map<NodeId, NodeId> clamps;
  for (std::size_t i = 0; i < cell.next.size(); ++i) {
    if (!recurrent[i]) continue;
    NodeId& value = cell.next[i].value;
    const auto [known, fresh] = clamps.try_emplace(value, kNoNode);
    if (fresh) known->second = clamp_to(cell.graph, value, bound);
    value = known->second;
  }
  for (Row& output : cell.outputs)
    if (const auto known = clamps.find(output.value); known != clamps.end()) output.value = known->second;
}

}  // namespace

// Of the simplified graph, so that a product that nothing needs changes nothing.
std::vector<bool> recurrent_rows(const Cell& cell) {
  const Graph graph = simplify(cell).graph;
  const std::vector<bool> reaches = multiplied(graph);
  std::vector<bool> rows(cell.next.size(), false);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.kind != NodeKind::Leaf || !reaches[i]) continue;
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (cell.next[k].tensor == node.tensor && cell.next[k].row == node.row) rows[k] = true;
  }
  if (std::ranges::find(rows, true) == rows.end()) rows.assign(rows.size(), true);
  // What a state is reset to is no recurrence: its gradient is a sum over resets.
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (is_reset_state(cell, cell.next[k].tensor)) rows[k] = false;
  return rows;
}

NodeId clamp_to(Graph& graph, NodeId value, double bound) {
  const NodeId high = graph.constant(bound), low = graph.constant(-bound);
  const NodeId below = graph.scalar(Op::Select, {graph.scalar(Op::Less, {value, low}), low, value});
  return graph.scalar(Op::Select, {graph.scalar(Op::Greater, {value, high}), high, below});
}

Result<Cell> clipped(const Cell& cell, const Clip& clip) {
  if (Status status = check_clip(cell, clip); !status) return status.error();
  if (!clip.any()) return cell;
  Cell result = cell;
  result.clip = clip;
  if (clip.forward) clamp_carries(result, *clip.forward);
  return result;
}

std::string describe_clip(const Cell& cell) {
  if (!cell.clip.any()) return "";
  std::vector<std::string> names;
  const std::vector<bool> recurrent = recurrent_rows(cell);
  for (std::size_t i = 0; i < cell.next.size(); ++i) {
    const Tensor& tensor = cell.tensor(cell.next[i].tensor);
    if (!recurrent[i] || is_tangent(cell, cell.next[i].tensor)) continue;
    names.push_back(tensor.rows == 1 ? tensor.name : fmt::format("{}[{}]", tensor.name, cell.next[i].row));
  }
  std::string text;
  if (cell.clip.forward)
    text += fmt::format("clipped: next {} to [-{}, {}]\n", fmt::join(names, ", next "), *cell.clip.forward,
                        *cell.clip.forward);
  if (cell.clip.gradient)
    text += fmt::format("clipped: the gradient through {} to [-{}, {}]\n", fmt::join(names, ", "),
                        *cell.clip.gradient, *cell.clip.gradient);
  return text;
}

}  // namespace rondo::step
