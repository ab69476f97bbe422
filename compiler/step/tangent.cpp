#include "compiler/step/tangent.h"

#include <algorithm>
#include <vector>

#include "compiler/step/forward_mode.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/support/index.h"

namespace rondo::step {

namespace {

constexpr std::string_view kSuffix = "_tangent";

// Builds the tangent cell with tangents for those tensors that `has` says.
class TangentCell {
 public:
  TangentCell(const Cell& cell, const std::vector<bool>& has) : cell_(cell), result_(cell) {
    result_.has_tangents = true;
    companions_.assign(cell.tensors.size(), -1);
    for (std::size_t i = 0; i < has.size(); ++i)
      if (has[i]) companions_[i] = add_companion(cell.tensors[i]);
  }

  Cell run() {
    Graph& graph = result_.graph;
    Seeds seeds;
    seeds.leaf = [&](const Node& leaf) {
      const TensorId companion = companions_[at(leaf.tensor)];
      return companion < 0 ? kNoNode : graph.leaf(companion, leaf.row, leaf.extent);
    };
    seeds.matrix = [&](TensorId matrix) { return companions_[at(matrix)]; };
    const std::vector<NodeId> tangents = append_tangents(cell_, seeds, graph);
    for (auto [rows, all] :
         {std::pair(&cell_.next, &result_.next), std::pair(&cell_.outputs, &result_.outputs)})
      for (const Row& row : *rows) {
        const NodeId value = tangents[at(row.value)];
        all->push_back({companions_[at(row.tensor)], row.row, value == kNoNode ? graph.constant(0) : value});
      }
    return simplified_result();
  }

 private:
  TensorId add_companion(const Tensor& of) {
    Tensor tensor = of;
    tensor.name = tangent_name(of.name);
    tensor.span = {};
    tensor.range = {};
    tensor.first = {};
    result_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(result_.tensors.size() - 1);
  }

  // First what is derived, by the rules for derivatives; then all together, which also drops what is dead.
  Cell simplified_result() {
    std::vector<NodeId*> roots;
    for (std::vector<Row>* rows : {&result_.next, &result_.outputs})
      for (Row& row : *rows) roots.push_back(&row.value);
    result_.graph = simplify(result_.graph, std::move(roots), static_cast<NodeId>(cell_.graph.nodes.size()));
    return simplify(result_);
  }

  const Cell& cell_;
  Cell result_;
  std::vector<TensorId> companions_;  // by tensor of the cell; -1: its tangent is zero
};

// Those of the tensors that have a companion in `whole` (all but flags have) which the step reads, and all
// states and outputs.
std::vector<bool> with_use(const Cell& cell, const Cell& whole) {
  std::vector<bool> used(whole.tensors.size(), false);
  for (const Node& node : whole.graph.nodes)
    if (node.tensor >= 0) used[at(node.tensor)] = true;
  std::vector<bool> has;
  for (std::size_t i = 0; i < cell.tensors.size(); ++i) {
    const TensorKind kind = cell.tensors[i].kind;
    has.push_back(kind == TensorKind::State || kind == TensorKind::Output || used[cell.tensors.size() + i]);
  }
  return has;
}

Status check_names(const Cell& cell) {
  for (const Tensor& tensor : cell.tensors) {
    const std::string name = tangent_name(tensor.name);
    const bool constant =
        std::ranges::any_of(cell.constants, [&](const NamedConstant& one) { return one.name == name; });
    if (constant || cell.find(name))
      return Error{ErrorKind::Input,
                   "cell " + cell.name + " has something of the name " + name +
                       " itself, which the tangent of " + tensor.name + " takes",
                   "rename it in the cell"};
  }
  return success();
}

bool has_flags(const Cell& cell) {
  return std::ranges::any_of(cell.tensors, [](const Tensor& tensor) { return is_flag(tensor.kind); });
}

}  // namespace

std::string tangent_name(const std::string& name) { return name + std::string(kSuffix); }

Result<Cell> tangent(const Cell& cell) {
  if (cell.has_tangents || has_flags(cell))
    return Error{
        ErrorKind::Input,
        "cell " + cell.name + (cell.has_tangents ? " is a tangent cell already" : " has forms already"),
        "take the cell as parsed; third derivatives are not there"};
  if (cell.clip.gradient)
    return Error{
        ErrorKind::Input,
        "cell " + cell.name + " bounds its gradient, which then is no derivative: it has no tangents",
        "leave out the bound of the gradient"};
  if (Status status = check_names(cell); !status) return status.error();
  const Cell simple = simplify(cell);
  if (has_max_plus(simple))
    return Error{ErrorKind::Input, "cell " + cell.name + " has a max-plus product, which has no tangents yet",
                 "leave out maxplus where second derivatives or tangents are wanted"};
  const Cell whole = TangentCell(simple, std::vector<bool>(cell.tensors.size(), true)).run();
  return TangentCell(simple, with_use(cell, whole)).run();
}

bool is_tangent(const Cell& cell, TensorId tensor) {
  const std::string& name = cell.tensor(tensor).name;
  return cell.has_tangents && name.ends_with(kSuffix) &&
         cell.find(name.substr(0, name.size() - kSuffix.size())).has_value();
}

}  // namespace rondo::step
