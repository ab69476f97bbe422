#include "compiler/step/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/step/declared.h"
#include "compiler/step/derivative_table.h"
#include "compiler/step/simplify.h"
#include "compiler/support/index.h"

namespace rondo::step {

namespace {

// How a node depends on one state row.
struct Dependence {
  Coupling coupling = Coupling::None;
  bool nonlinear = false;  // its derivative (or where it jumps) depends on a state

  void add(Dependence other) {
    coupling = std::max(coupling, other.coupling);
    nonlinear = nonlinear || other.nonlinear;
  }
};

// One sweep over the simplified graph. Coupling follows the flow of values, so that a select on a sum over
// the head counts as dense though its derivative is zero. A derivative depends on the state if any partial on
// the way does.
class DependenceSweep {
 public:
  explicit DependenceSweep(const Cell& cell) : cell_(cell) {
    build_partials();
    for (NodeId id = 0; id < size(); ++id) visit(id);
  }

  Dependence of(NodeId id, std::size_t state) const { return dependence_[at(id)][state]; }

 private:
  NodeId size() const { return static_cast<NodeId>(cell_.graph.nodes.size()); }

  // partials_[n][i] = d n / d operand i as a node of partial_graph_, simplified; sees_state_ tells which
  // depend on a state.
  void build_partials() {
    partial_graph_ = cell_.graph;
    partials_.resize(cell_.graph.nodes.size());
    std::vector<NodeId*> roots;
    for (NodeId id = 0; id < size(); ++id) {
      const Node& node = cell_.graph.at(id);
      if (node.kind != NodeKind::Scalar) continue;
      for (std::size_t i = 0; i < node.operands.size(); ++i)
        partials_[at(id)].push_back(partial(partial_graph_, id, static_cast<int>(i)));
      for (NodeId& made : partials_[at(id)]) roots.push_back(&made);
    }
    partial_graph_ = simplify(partial_graph_, std::move(roots), size());
    for (const Node& node : partial_graph_.nodes) {
      bool sees = node.kind == NodeKind::Leaf && cell_.tensor(node.tensor).kind == TensorKind::State;
      for (const NodeId operand : node.operands) sees = sees || sees_state_[at(operand)];
      sees_state_.push_back(sees);
    }
  }

  void visit(NodeId id) {
    const Node& node = cell_.graph.at(id);
    std::vector<Dependence>& mine = dependence_.emplace_back(cell_.next.size());
    for (std::size_t state = 0; state < cell_.next.size(); ++state) {
      if (node.kind == NodeKind::Leaf && node.tensor == cell_.next[state].tensor &&
          node.row == cell_.next[state].row)
        mine[state].coupling = Coupling::Diagonal;
      for (std::size_t i = 0; i < node.operands.size(); ++i) mine[state].add(through(id, i, state));
    }
  }

  // The dependence of node `id` on a state through its operand i.
  Dependence through(NodeId id, std::size_t i, std::size_t state) const {
    const Node& node = cell_.graph.at(id);
    Dependence result = dependence_[at(node.operands[i])][state];
    if (result.coupling == Coupling::None) return result;
    if (node.kind != NodeKind::Scalar) {
      result.coupling = Coupling::Dense;
      result.nonlinear =
          result.nonlinear || node.kind == NodeKind::ReduceMax || node.kind == NodeKind::MaxPlus;
      return result;
    }
    // Where every channel reads one value of the head, that value depends on no vector, or it came through a
    // reduction: what it follows of states are values of the head, which no channel changes.
    const NodeId partial = partials_[at(id)][i];
    result.nonlinear = result.nonlinear || partial == kNoNode || sees_state_[at(partial)];
    return result;
  }

  const Cell& cell_;
  Graph partial_graph_;
  std::vector<std::vector<NodeId>> partials_;
  std::vector<bool> sees_state_;
  std::vector<std::vector<Dependence>> dependence_;
};

bool any_node(const Graph& graph, NodeKind a, NodeKind b) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) { return node.kind == a || node.kind == b; });
}

std::string kind_of(const Cell& cell, const Structure& structure) {
  const bool coupled =
      std::ranges::any_of(structure.coupling, [](Coupling coupling) { return coupling != Coupling::None; });
  if (!coupled) return "no recurrence: no next state depends on a previous one";
  const std::vector<TensorId> states = cell.of_kind(TensorKind::State);
  const bool of_head = std::ranges::any_of(states, [&](TensorId id) { return cell.is_head_value(id); });
  const char* beside = of_head ? ", beside values of the head that follow no channel" : "";
  if (structure.affine)
    return fmt::format("an affine diagonal recurrence: linear in the state, each channel on its own{}",
                       beside);
  if (structure.all_diagonal)
    return fmt::format("a nonlinear diagonal recurrence: each channel on its own{}", beside);
  return "a dense recurrence: the channels of a head depend on each other";
}

using Rows = std::vector<int>;  // of one tensor, ascending

// "h", "h[3]", "h[0..7]" or "h[0..2, 5]".
std::string rows_text(const Tensor& tensor, const Rows& rows) {
  if (tensor.lead.empty()) return tensor.name;
  std::string list;
  for (std::size_t first = 0, last = 0; first < rows.size(); first = ++last) {
    while (last + 1 < rows.size() && rows[last + 1] == rows[last] + 1) ++last;
    list += list.empty() ? "" : ", ";
    list += first == last ? fmt::format("{}", rows[first]) : fmt::format("{}..{}", rows[first], rows[last]);
  }
  return fmt::format("{}[{}]", tensor.name, list);
}

// The rows of one state that depend in one way on rows of another: previous rows of each next row.
using RowPairs = std::map<int, Rows>;

// Lines of rows that depend on the same rows, and one for rows that depend on one row each, all as far off.
std::string pairs_text(const Tensor& next, const Tensor& previous, const RowPairs& pairs,
                       const std::string& how) {
  std::map<int, Rows> by_distance;   // next rows with one previous row
  std::map<Rows, Rows> by_previous;  // next rows of the same previous rows
  for (const auto& [row, rows] : pairs)
    if (rows.size() == 1) by_distance[row - rows[0]].push_back(row);
  for (const auto& [row, rows] : pairs)
    if (rows.size() > 1 || by_distance[row - rows[0]].size() == 1) by_previous[rows].push_back(row);
  std::map<Rows, std::string> lines;  // in the order of the next rows
  const auto add = [&](const Rows& to, const Rows& from, const char* each) {
    lines[to] += fmt::format("  next {} {} on {}{}: {}\n", rows_text(next, to),
                             to.size() > 1 ? "depend" : "depends", rows_text(previous, from), each, how);
  };
  for (const auto& [from, to] : by_previous) add(to, from, "");
  for (const auto& [distance, to] : by_distance) {
    Rows from = to;
    for (int& row : from) row -= distance;
    if (to.size() > 1) add(to, from, ", row by row");
  }
  std::string text;
  for (const auto& [rows, line] : lines) text += line;
  return text;
}

std::string way_of(const Cell& cell, const Row& next, const Row& previous, Coupling coupling) {
  if (coupling == Coupling::Dense) return "dense within a head";
  const bool of_head = cell.is_head_value(previous.tensor);
  if (!of_head) return "channel by channel";
  const bool vector = !cell.is_head_value(next.tensor);
  return vector ? "each channel on one value of the head" : "one value of the head";
}

// Every way in which states depend on each other, a line for all rows of which it is true.
std::string dependences_text(const Cell& cell, const Structure& structure) {
  using States = std::pair<TensorId, TensorId>;
  std::vector<std::pair<States, std::map<std::string, RowPairs>>> found;  // in the order of Cell::next
  std::map<States, std::size_t> places;
  for (int i = 0; i < structure.states; ++i)
    for (int j = 0; j < structure.states; ++j) {
      const Coupling coupling = structure.at(i, j);
      if (coupling == Coupling::None) continue;
      const Row &next = cell.next[at(i)], &previous = cell.next[at(j)];
      const auto [place, made] = places.try_emplace({next.tensor, previous.tensor}, found.size());
      if (made) found.push_back({place->first, {}});
      const std::string how =
          fmt::format("{}, with a derivative {} the state", way_of(cell, next, previous, coupling),
                      structure.depends_on_state(i, j) ? "that depends on" : "free of");
      found[place->second].second[how][next.row].push_back(previous.row);
    }
  std::string text;
  for (const auto& [states, ways] : found)
    for (const auto& [how, pairs] : ways)
      text += pairs_text(cell.tensor(states.first), cell.tensor(states.second), pairs, how);
  return text;
}

// Whether products may be made for all steps at once, whatever the states are.
bool multiplies_inputs_alone(const Cell& cell) {
  return std::ranges::all_of(cell.graph.nodes, [&](const Node& node) {
    if (!is_product(node)) return true;
    const Node& vector = cell.graph.at(node.operands[0]);
    return vector.kind == NodeKind::Leaf && cell.tensor(vector.tensor).kind == TensorKind::Input;
  });
}

// What ties the channels of a head together, beside the pairs: a matrix or a reduction may act on inputs
// alone.
std::string head_wide_text(const Cell& cell, const Structure& structure) {
  std::string text;
  if (structure.has_matrix)
    text += multiplies_inputs_alone(cell)
                ? "  the step multiplies inputs alone by a matrix of the head, which waits for no step\n"
                : "  the step multiplies by a matrix of the head\n";
  if (structure.has_reduction) text += "  the step reduces over the head\n";
  if (structure.has_along) text += "  the step shifts or sums up along the channels of the head\n";
  if (structure.declares_derivatives)
    text += "  the step declares derivatives of its own, which the backward pass takes\n";
  return text;
}

}  // namespace

Structure analyze(const Cell& cell) { return structure_of(simplify(cell)); }

bool has_matrix(const Cell& simplified) { return std::ranges::any_of(simplified.graph.nodes, reads_matrix); }

bool has_max_plus(const Cell& simplified) {
  return any_node(simplified.graph, NodeKind::MaxPlus, NodeKind::ArgMaxPlus);
}

bool has_reduction(const Cell& simplified) {
  return any_node(simplified.graph, NodeKind::ReduceSum, NodeKind::ReduceMax);
}

bool has_along(const Cell& simplified) { return std::ranges::any_of(simplified.graph.nodes, is_along_head); }

namespace {

void fill_dependences(const Cell& cell, Structure& structure) {
  const DependenceSweep sweep(cell);
  for (const Row& next : cell.next)
    for (std::size_t previous = 0; previous < cell.next.size(); ++previous) {
      const Dependence dependence = sweep.of(next.value, previous);
      structure.coupling.push_back(dependence.coupling);
      structure.state_dependent.push_back(dependence.nonlinear);
    }
}

// A declared derivative may couple what the values do not: the backward pass follows it.
void add_declared_couplings(const Cell& cell, Structure& structure) {
  const DependenceSweep sweep(cell);
  auto coupling = structure.coupling.begin();
  for (const Row& next : cell.next)
    for (std::size_t previous = 0; previous < cell.next.size(); ++previous, ++coupling)
      *coupling = std::max(*coupling, sweep.of(next.value, previous).coupling);
}

}  // namespace

Structure structure_of(const Cell& cell) {
  Structure structure;
  structure.states = static_cast<int>(cell.next.size());
  structure.declares_derivatives = declares_derivatives(cell.graph);
  if (structure.declares_derivatives) {
    fill_dependences(values_only(cell), structure);
    add_declared_couplings(cell, structure);
  } else {
    fill_dependences(cell, structure);
  }
  for (std::size_t pair = 0; pair < structure.coupling.size(); ++pair) {
    structure.all_diagonal = structure.all_diagonal && structure.coupling[pair] != Coupling::Dense;
    structure.affine = structure.affine && !structure.state_dependent[pair];
  }
  structure.affine = structure.affine && structure.all_diagonal;
  structure.has_matrix = has_matrix(cell);
  structure.has_reduction = has_reduction(cell);
  structure.has_along = has_along(cell);
  return structure;
}

std::string describe(const Cell& cell, const Structure& structure) {
  return fmt::format("{}: {}\n", cell.name, kind_of(cell, structure)) + dependences_text(cell, structure) +
         head_wide_text(cell, structure);
}

}  // namespace rondo::step
