#include "compiler/step/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/step/tangent.h"
#include "compiler/support/index.h"

namespace rondo::step {

using scalar::Op;

namespace {

Status check_name(const Cell& cell, const std::string& name) {
  const bool constant =
      std::ranges::any_of(cell.constants, [&](const NamedConstant& one) { return one.name == name; });
  if (!constant && !cell.find(name)) return success();
  return Error{ErrorKind::Input, "cell " + cell.name + " has something of the name " + name + " itself",
               "rename it in the cell"};
}

// Rebuilds the step: what stood for a state becomes the state after a possible reset.
class FormRewriting {
 public:
  FormRewriting(const Cell& cell, const Forms& forms) : original_(cell), result_(cell) {
    result_.graph = {};
    result_.direction = forms.reversed     ? Direction::Reversed
                        : forms.directions ? Direction::Halves
                                           : Direction::Forward;
    if (forms.resets) reset_ = add_leaf(TensorKind::Reset, kResetsName);
    if (forms.lengths) valid_ = add_leaf(TensorKind::Length, kLengthsName);
    for (const TensorId state : original_.of_kind(TensorKind::State))
      if (forms.reset_states) add_companion(state);
  }

  Cell run() {
    find_inputs();
    for (NodeId id = 0; id < static_cast<NodeId>(original_.graph.nodes.size()); ++id) copy(id);
    for (Row& row : result_.next) row.value = next(row);
    result_.next.insert(result_.next.end(), companions_.begin(), companions_.end());
    for (Row& row : result_.outputs) row.value = only_valid(made_[at(row.value)]);
    return std::move(result_);
  }

 private:
  NodeId add_leaf(TensorKind kind, const char* name) {
    result_.tensors.push_back({kind, name, Tail::Scalar, {}, 1, {}});
    return result_.graph.leaf(static_cast<TensorId>(result_.tensors.size() - 1), 0, Extent::Scalar);
  }

  // A state that each step leaves as it is.
  void add_companion(TensorId state) {
    Tensor tensor = original_.tensor(state);
    tensor.name = reset_state_name(tensor.name);
    tensor.span = {};
    result_.tensors.push_back(tensor);
    const auto companion = static_cast<TensorId>(result_.tensors.size() - 1);
    for (int row = 0; row < tensor.rows; ++row) {
      const NodeId leaf = result_.graph.leaf(companion, row, extent_of(state));
      reset_to_[{state, row}] = leaf;
      companions_.push_back({companion, row, leaf});
    }
  }

  Extent extent_of(TensorId state) const {
    return original_.tensor(state).tail == Tail::Scalar ? Extent::Scalar : Extent::Vector;
  }

  // Nodes that depend on an input.
  void find_inputs() {
    for (const Node& node : original_.graph.nodes) {
      bool sees = node.kind == NodeKind::Leaf && original_.tensor(node.tensor).kind == TensorKind::Input;
      for (const NodeId operand : node.operands) sees = sees || sees_input_[at(operand)];
      sees_input_.push_back(sees);
    }
  }

  void copy(NodeId id) {
    Node node = original_.graph.at(id);
    // The gradient of a matrix is a product with this vector. Past the end of a row an input may be
    // anything, and zero times what is not finite is no zero.
    const bool masked = is_product(node) && sees_input_[at(node.operands[0])];
    for (NodeId& operand : node.operands) {
      operand = made_[at(operand)];
      if (masked) operand = only_valid(operand);
    }
    const bool state = node.kind == NodeKind::Leaf && original_.tensor(node.tensor).kind == TensorKind::State;
    NodeId made = result_.graph.add(std::move(node));
    if (state) {
      const Node& leaf = result_.graph.at(made);
      const std::pair row{leaf.tensor, leaf.row};
      before_[row] = made;
      made = after_reset(made, row);
    }
    made_.push_back(made);
  }

  NodeId after_reset(NodeId state, const std::pair<TensorId, int>& row) {
    if (reset_ == kNoNode) return state;
    const auto given = reset_to_.find(row);
    const NodeId to = given == reset_to_.end() ? first(original_.tensor(row.first).first) : given->second;
    return result_.graph.scalar(Op::Select, {reset_, to, state});
  }

  NodeId first(const DeclaredNumber& number) {
    if (number.const_index < 0) return result_.graph.constant(number.value);
    const NodeId constant = result_.graph.named_constant(number.const_index);
    return number.negated ? result_.graph.scalar(Op::Neg, {constant}) : constant;
  }

  NodeId only_valid(NodeId value) {
    if (valid_ == kNoNode) return value;
    return result_.graph.scalar(Op::Select, {valid_, value, result_.graph.constant(0)});
  }

  NodeId next(const Row& row) {
    const NodeId value = made_[at(row.value)];
    if (valid_ == kNoNode) return value;
    const auto [known, fresh] = before_.try_emplace({row.tensor, row.row}, kNoNode);
    if (fresh) known->second = result_.graph.leaf(row.tensor, row.row, extent_of(row.tensor));
    return result_.graph.scalar(Op::Select, {valid_, value, known->second});
  }

  const Cell& original_;
  Cell result_;
  NodeId reset_ = kNoNode, valid_ = kNoNode;
  std::vector<bool> sees_input_;                       // by node of the original
  std::vector<NodeId> made_;                           // by node of the original: what stands for it
  std::map<std::pair<TensorId, int>, NodeId> before_;  // the leaf of a state row
  std::map<std::pair<TensorId, int>, NodeId>
      reset_to_;  // by state row: what it is reset to, if that is given
  std::vector<Row> companions_;
};

Status check_wanted(const Cell& cell, const Forms& forms) {
  for (const auto& [wanted, name] :
       {std::pair(forms.resets, kResetsName), std::pair(forms.lengths, kLengthsName)})
    if (Status status = wanted ? check_name(cell, name) : success(); !status) return status;
  if (forms.reversed && forms.directions)
    return Error{ErrorKind::Input, "cell " + cell.name + " is to walk both reversed and in two directions",
                 "ask for one of the forms reversed and directions"};
  if (forms.reset_states && !forms.resets)
    return Error{ErrorKind::Input,
                 "cell " + cell.name + " is to be reset to given states, but without resets",
                 "ask for the form resets too"};
  for (const TensorId state : cell.of_kind(TensorKind::State))
    if (Status status =
            forms.reset_states ? check_name(cell, reset_state_name(cell.tensor(state).name)) : success();
        !status)
      return status;
  return success();
}

}  // namespace

Result<Cell> with_forms(const Cell& cell, const Forms& forms) {
  if (!forms.any()) return cell;
  if (forms_of(cell).any())
    return Error{ErrorKind::Input, "cell " + cell.name + " has forms already",
                 "ask for all forms at once, of the cell as parsed"};
  // Where the other forms choose between values they choose between tangents then, which is the derivative.
  const Result<Cell> beside = forms.tangents ? tangent(cell) : Result<Cell>(cell);
  if (!beside) return beside.error();
  if (Status status = check_wanted(*beside, forms); !status) return status.error();
  return FormRewriting(*beside, forms).run();
}

Forms forms_of(const Cell& cell) {
  const std::vector<TensorId> states = cell.of_kind(TensorKind::State);
  return {cell.first_of_kind(TensorKind::Reset).has_value(),
          cell.first_of_kind(TensorKind::Length).has_value(),
          cell.direction == Direction::Reversed,
          std::ranges::any_of(states, [&](TensorId id) { return is_reset_state(cell, id); }),
          cell.direction == Direction::Halves,
          cell.has_tangents};
}

std::vector<std::string> form_names(const Forms& forms) {
  std::vector<std::string> names;
  if (forms.resets) names.emplace_back(kResetsName);
  if (forms.lengths) names.emplace_back(kLengthsName);
  if (forms.reset_states) names.emplace_back(kResetStatesName);
  if (forms.reversed) names.emplace_back(kReversedName);
  if (forms.directions) names.emplace_back(kDirectionsName);
  if (forms.tangents) names.emplace_back(kTangentsName);
  return names;
}

Status check_forms(const Cell& cell, const Sizes& sizes) {
  if (cell.direction != Direction::Halves || sizes.heads % 2 == 0) return success();
  return Error{ErrorKind::Input,
               fmt::format("H is {}, but the heads are halves that walk in two directions", sizes.heads),
               "give an even number of heads: first those that walk forward, then as many that walk back"};
}

std::string reset_state_name(const std::string& state) { return state + "_reset"; }

// Any other state of a cell with resets has a select in what it becomes.
bool is_reset_state(const Cell& cell, TensorId tensor) {
  if (!cell.first_of_kind(TensorKind::Reset) || cell.tensor(tensor).kind != TensorKind::State) return false;
  return std::ranges::all_of(cell.next, [&](const Row& next) {
    if (next.tensor != tensor) return true;
    const Node& node = cell.graph.at(next.value);
    return node.kind == NodeKind::Leaf && node.tensor == tensor && node.row == next.row;
  });
}

std::string describe_forms(const Cell& cell) {
  const Forms forms = forms_of(cell);
  std::string text;
  if (forms.resets)
    text += fmt::format("resets: states are {} before a step whose byte in resets [B, T] is set\n",
                        forms.reset_states ? "those of NAME_reset" : "what they begin with");
  if (forms.lengths)
    text += "lengths: steps from lengths [B] on leave the states as they are and give outputs of zero\n";
  if (forms.reversed) text += "reversed: time is walked from the last step to the first\n";
  if (forms.directions)
    text += "directions: the second half of the heads walks time from the last step to the first\n";
  if (forms.tangents)
    text +=
        "tangents: beside each NAME stands NAME_tangent, how it changes along a direction to first order\n";
  return text;
}

}  // namespace rondo::step
