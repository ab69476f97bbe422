#include "compiler/step/forms.h"

#include <algorithm>
#include <map>

#include "compiler/support/index.h"

namespace rondo::step {

using scalar::Op;

namespace {

Status check_name(const Cell& cell, const char* name) {
  const bool constant = std::any_of(cell.constants.begin(), cell.constants.end(),
                                    [&](const NamedConstant& one) { return one.name == name; });
  if (!constant && !cell.find(name)) return success();
  return Error{ErrorKind::Input, "cell " + cell.name + " has something of the name " + name + " itself",
               "rename it in the cell"};
}

// Rebuilds the step: what stood for a state becomes the state after a possible reset.
class FormRewriting {
 public:
  FormRewriting(const Cell& cell, const Forms& forms) : original_(cell), result_(cell) {
    result_.graph = {};
    result_.reversed = forms.reversed;
    if (forms.resets) reset_ = add_leaf(TensorKind::Reset, kResetsName);
    if (forms.lengths) valid_ = add_leaf(TensorKind::Length, kLengthsName);
  }

  Cell run() {
    find_inputs();
    for (NodeId id = 0; id < static_cast<NodeId>(original_.graph.nodes.size()); ++id) copy(id);
    for (Row& row : result_.next) row.value = next(row);
    for (Row& row : result_.outputs) row.value = only_valid(made_[at(row.value)]);
    return std::move(result_);
  }

 private:
  NodeId add_leaf(TensorKind kind, const char* name) {
    result_.tensors.push_back({kind, name, Tail::Scalar, {}, 1, {}});
    return result_.graph.leaf(static_cast<TensorId>(result_.tensors.size() - 1), 0, Extent::Scalar);
  }

  // Nodes that depend on an input.
  void find_inputs() {
    for (const Node& node : original_.graph.nodes) {
      bool sees = node.kind == NodeKind::Leaf && original_.tensors[at(node.tensor)].kind == TensorKind::Input;
      for (const NodeId operand : node.operands) sees = sees || sees_input_[at(operand)];
      sees_input_.push_back(sees);
    }
  }

  void copy(NodeId id) {
    Node node = original_.graph.at(id);
    const bool product = node.kind == NodeKind::MatVec || node.kind == NodeKind::MatTVec;
    // The gradient of a matrix is a product with this vector. Past the end of a row an input may be
    // anything, and zero times what is not finite is no zero.
    const bool masked = product && sees_input_[at(node.operands[0])];
    for (NodeId& operand : node.operands) {
      operand = made_[at(operand)];
      if (masked) operand = only_valid(operand);
    }
    const bool state =
        node.kind == NodeKind::Leaf && original_.tensors[at(node.tensor)].kind == TensorKind::State;
    NodeId made = result_.graph.add(std::move(node));
    if (state) {
      const Node& leaf = result_.graph.at(made);
      before_[{leaf.tensor, leaf.row}] = made;
      made = after_reset(made);
    }
    made_.push_back(made);
  }

  NodeId after_reset(NodeId state) {
    if (reset_ == kNoNode) return state;
    return result_.graph.scalar(Op::Select, {reset_, result_.graph.constant(0), state});
  }

  NodeId only_valid(NodeId value) {
    if (valid_ == kNoNode) return value;
    return result_.graph.scalar(Op::Select, {valid_, value, result_.graph.constant(0)});
  }

  NodeId next(const Row& row) {
    const NodeId value = made_[at(row.value)];
    if (valid_ == kNoNode) return value;
    const auto [known, fresh] = before_.try_emplace({row.tensor, row.row}, kNoNode);
    if (fresh) {
      const bool number = original_.tensors[at(row.tensor)].tail == Tail::Scalar;
      known->second = result_.graph.leaf(row.tensor, row.row, number ? Extent::Scalar : Extent::Vector);
    }
    return result_.graph.scalar(Op::Select, {valid_, value, known->second});
  }

  const Cell& original_;
  Cell result_;
  NodeId reset_ = kNoNode, valid_ = kNoNode;
  std::vector<bool> sees_input_;                       // by node of the original
  std::vector<NodeId> made_;                           // by node of the original: what stands for it
  std::map<std::pair<TensorId, int>, NodeId> before_;  // the leaf of a state row
};

}  // namespace

Result<Cell> with_forms(const Cell& cell, const Forms& forms) {
  if (!forms.any()) return cell;
  if (forms_of(cell).any())
    return Error{ErrorKind::Input, "cell " + cell.name + " has forms already",
                 "ask for all forms at once, of the cell as parsed"};
  for (const auto& [wanted, name] :
       {std::pair(forms.resets, kResetsName), std::pair(forms.lengths, kLengthsName)})
    if (Status status = wanted ? check_name(cell, name) : success(); !status) return status.error();
  return FormRewriting(cell, forms).run();
}

Forms forms_of(const Cell& cell) {
  return {cell.first_of_kind(TensorKind::Reset).has_value(),
          cell.first_of_kind(TensorKind::Length).has_value(), cell.reversed};
}

std::string describe_forms(const Cell& cell) {
  const Forms forms = forms_of(cell);
  std::string text;
  if (forms.resets) text += "resets: states are zero before a step whose byte in resets [B, T] is set\n";
  if (forms.lengths)
    text += "lengths: steps from lengths [B] on leave the states as they are and give outputs of zero\n";
  if (forms.reversed) text += "reversed: time is walked from the last step to the first\n";
  return text;
}

}  // namespace rondo::step
