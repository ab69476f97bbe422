#include "compiler/schedule/widen/widened_cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/step/extents.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

using scalar::Op;
using step::Extent;
using step::InnerExtent;
using step::Node;
using step::NodeKind;

// Ops whose value and derivatives are numbers where each vector operand is 0 and the others are constants.
bool is_smooth_at_zero(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Neg:
    case Op::Fma:
    case Op::Min:
    case Op::Max:
    case Op::Abs:
    case Op::Square:
    case Op::Sigmoid:
    case Op::Tanh:
    case Op::Relu:
    case Op::Select: return true;
    default: return false;
  }
}

bool is_matrix_product(const Node& node) {
  return node.kind == NodeKind::MatVec || node.kind == NodeKind::MatTVec;
}

// What is known of the channels behind an extent, of each node that has one.
class Behind {
 public:
  explicit Behind(const step::Cell& cell)
      : cell_(cell), inner_(inner_extents(cell, cell.graph)), users_(cell.graph.nodes.size()) {
    for (NodeId id = 0; id < static_cast<NodeId>(cell.graph.nodes.size()); ++id)
      for (const NodeId operand : cell.graph.at(id).operands) users_[at(operand)].push_back(id);
    find_zero();
    find_zero_gradient();
  }

  const InnerExtent& extent(NodeId id) const { return inner_[at(id)]; }
  // They are 0.
  bool zero(NodeId id) const { return zero_[at(id)]; }
  // So are gradients that arrive there.
  bool zero_gradient(NodeId id) const { return zero_gradient_[at(id)]; }

 private:
  std::size_t count() const { return cell_.graph.nodes.size(); }
  bool is_constant(NodeId id) const {
    const Node& node = cell_.graph.at(id);
    return node.kind == NodeKind::Constant || node.kind == NodeKind::NamedConst ||
           node.kind == NodeKind::HeadSize;
  }
  bool is_zero_number(NodeId id) const {
    const Node& node = cell_.graph.at(id);
    return node.kind == NodeKind::Constant && node.value == 0;
  }

  // The largest solution: a state is zero there as long as what it becomes is.
  void find_zero() {
    std::vector<bool> states(cell_.tensors.size(), true);
    for (bool changed = true; changed;) {
      zero_.assign(count(), false);
      for (std::size_t i = 0; i < count(); ++i) zero_[i] = is_zero(cell_.graph.nodes[i], states);
      changed = false;
      for (const step::Row& row : cell_.next) {
        if (zero_[at(row.value)] || is_zero_number(row.value) || !states[at(row.tensor)]) continue;
        states[at(row.tensor)] = false;
        changed = true;
      }
    }
  }
  bool is_zero(const Node& node, const std::vector<bool>& states) const {
    const auto zero = [&](std::size_t i) {
      return zero_[at(node.operands[i])] || is_zero_number(node.operands[i]);
    };
    if (node.extent != Extent::Vector) return false;
    if (node.kind == NodeKind::Leaf) return states[at(node.tensor)];
    if (is_matrix_product(node)) return true;  // so are the matrix's rows
    if (node.kind != NodeKind::Scalar) return false;
    switch (node.op) {
      case Op::Neg:
      case Op::Abs:
      case Op::Square:
      case Op::Tanh:
      case Op::Relu: return zero(0);
      case Op::Add:
      case Op::Sub:
      case Op::Min:
      case Op::Max: return zero(0) && zero(1);
      case Op::Mul:
        return (zero(0) && (zero(1) || is_constant(node.operands[1]))) ||
               (zero(1) && is_constant(node.operands[0]));
      case Op::Select: return zero(1) && zero(2);
      default: return false;
    }
  }

  void find_zero_gradient() {
    zero_gradient_.assign(count(), true);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = count(); i-- > 0;)
        if (zero_gradient_[i] && !is_zero_gradient(static_cast<NodeId>(i))) {
          zero_gradient_[i] = false;
          changed = true;
        }
    }
  }
  // A product hands nothing there, as its matrix's columns are zero; outputs and last states are given zeros.
  bool is_zero_gradient(NodeId id) const {
    for (const NodeId user : users_[at(id)]) {
      const Node& node = cell_.graph.at(user);
      if (is_matrix_product(node)) continue;
      if (node.kind != NodeKind::Scalar || !zero_gradient_[at(user)] || !is_smooth_at_zero(node.op))
        return false;
      for (const NodeId operand : node.operands)
        if (!zero_[at(operand)] && !is_constant(operand) && !is_flag_leaf(operand)) return false;
    }
    for (const step::Row& row : cell_.next) {
      if (row.value != id) continue;
      for (std::size_t leaf = 0; leaf < count(); ++leaf) {
        const Node& node = cell_.graph.nodes[leaf];
        if (node.kind == NodeKind::Leaf && node.tensor == row.tensor && node.row == row.row &&
            !zero_gradient_[leaf])
          return false;
      }
    }
    return true;
  }
  bool is_flag_leaf(NodeId id) const {
    const Node& node = cell_.graph.at(id);
    return node.kind == NodeKind::Leaf && is_flag(cell_.tensor(node.tensor).kind);
  }

  const step::Cell& cell_;
  const std::vector<InnerExtent> inner_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<bool> zero_, zero_gradient_;
};

class Widener {
 public:
  explicit Widener(const step::Cell& cell) : given_(cell), walked_(walked_extents(cell)), behind_(cell) {}

  std::optional<WidenedCell> run() {
    const auto transposed = [](const Node& node) { return node.kind == NodeKind::MatTVec; };
    if (std::ranges::none_of(walked_, [](bool walked) { return walked; }) &&
        std::ranges::none_of(given_.graph.nodes, transposed))
      return std::nullopt;
    result_.cell = given_;
    for (step::Tensor& tensor : result_.cell.tensors) {
      result_.narrow.push_back(is_walked(tensor.inner) || is_walked(tensor.outer));
      for (InnerExtent* extent : {&tensor.inner, &tensor.outer}) {
        if (!is_walked(*extent)) continue;
        result_.largest = std::max(result_.largest, extent->size);
        *extent = {};
      }
    }
    rewrite();
    return std::move(result_);
  }

 private:
  bool is_walked(const InnerExtent& extent) const { return extent && walked_.at(at(extent.const_index)); }

  void rewrite() {
    step::Graph& graph = result_.cell.graph = {};
    std::vector<NodeId> moved;
    for (NodeId id = 0; id < static_cast<NodeId>(given_.graph.nodes.size()); ++id) {
      Node node = given_.graph.at(id);
      const bool product = is_matrix_product(node);
      if (node.kind == NodeKind::MatTVec) {
        node.kind = NodeKind::MatVec;
        node.tensor = transpose_of(node.tensor);
      }
      for (NodeId& operand : node.operands) {
        const NodeId before = operand;
        operand = moved[at(before)];
        if (product && is_walked(behind_.extent(before)) && !behind_.zero(before))
          operand = masked(operand, behind_.extent(before));
      }
      NodeId own = graph.add(std::move(node));
      if (product && is_walked(behind_.extent(id)) && !behind_.zero_gradient(id))
        own = masked(own, behind_.extent(id));
      moved.push_back(own);
    }
    for (std::vector<step::Row>* rows : {&result_.cell.next, &result_.cell.outputs})
      for (step::Row& row : *rows) row.value = moved[at(row.value)];
  }

  // A choice and no product: what stands there need be no number, nor need its gradient.
  NodeId masked(NodeId vector, const InnerExtent& extent) {
    step::Graph& graph = result_.cell.graph;
    const NodeId mask = graph.leaf(mask_of(extent), 0, Extent::Vector);
    return graph.scalar(Op::Select, {mask, vector, graph.constant(0)});
  }
  step::TensorId mask_of(const InnerExtent& extent) {
    const auto [known, fresh] = masks_.try_emplace(extent.const_index, -1);
    if (!fresh) return known->second;
    step::Tensor mask;
    mask.kind = step::TensorKind::Param;
    known->second =
        append(mask, fmt::format("channels_of_{}", given_.constants[at(extent.const_index)].name));
    result_.masks.push_back({known->second, extent.size});
    return known->second;
  }

  step::TensorId transpose_of(step::TensorId matrix) {
    const auto known = std::ranges::find(result_.transposes, matrix, &WidenedCell::Transpose::of);
    if (known != result_.transposes.end()) return known->param;
    step::Tensor transpose = result_.cell.tensor(matrix);
    std::swap(transpose.inner, transpose.outer);
    result_.narrow[at(matrix)] = true;
    result_.transposes.push_back({append(std::move(transpose), transpose.name + "_transposed"), matrix});
    return result_.transposes.back().param;
  }
  step::TensorId append(step::Tensor tensor, std::string name) {
    tensor.name = std::move(name);
    while (result_.cell.find(tensor.name)) tensor.name += "_";
    result_.cell.tensors.push_back(std::move(tensor));
    return static_cast<step::TensorId>(result_.cell.tensors.size()) - 1;
  }

  const step::Cell& given_;
  const std::vector<bool> walked_;
  const Behind behind_;
  WidenedCell result_;
  std::map<int, step::TensorId> masks_;  // by constant
};

}  // namespace

std::optional<WidenedCell> widened(const step::Cell& cell) { return Widener(cell).run(); }

}  // namespace rondo::schedule
