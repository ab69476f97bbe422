#include "compiler/schedule/rewrite/linear_step.h"
#include "compiler/schedule/analysis/carried.h"

#include <algorithm>
#include <map>

#include "compiler/schedule/analysis/history.h"
#include "compiler/step/simplify.h"
#include "compiler/step/verify.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

// Coefficients and constant as nodes of the carry-free graph; kNoNode stands for zero.
struct CarriedForm {
  std::vector<NodeId> coefficients;
  NodeId constant = kNoNode;
  bool carry_free() const {
    return std::ranges::all_of(coefficients, [](NodeId c) { return c == kNoNode; });
  }
};

class Linearizer {
 public:
  Linearizer(const Task& task, const step::StepGraph& original) : task_(task), original_(original) {}

  std::optional<LinearStep> run() {
    forms_.resize(original_.graph.nodes.size());
    shifts_.assign(states(), kNoNode);
    const std::vector<NodeId> order = reachable(original_.graph, original_.roots);
    count_uses(order);
    for (const NodeId id : order)
      if (!visit(id)) return std::nullopt;
    return collect();
  }

 private:
  std::size_t states() const { return task_.cell.next.size(); }

  int carried_row(const Node& node) const {
    if (!is_carried(task_, node)) return -1;
    const step::TensorId tensor = node.kind == NodeKind::Leaf ? node.tensor : node.gradient.tensor;
    const int row = node.kind == NodeKind::Leaf ? node.row : node.gradient.row;
    for (std::size_t k = 0; k < states(); ++k)
      if (task_.cell.next[k].tensor == tensor && task_.cell.next[k].row == row) return static_cast<int>(k);
    return -1;
  }

  void count_uses(const std::vector<NodeId>& order) {
    uses_.assign(states(), 0);
    const auto count = [&](NodeId id) {
      if (const int row = carried_row(original_.graph.at(id)); row >= 0) ++uses_[at(row)];
    };
    for (const NodeId id : order)
      for (const NodeId operand : original_.graph.at(id).operands) count(operand);
    for (const NodeId root : original_.roots) count(root);
  }

  // The carried row that this sum shifts: it adds something carry-free to a carried value that nothing else
  // uses. -1 if it is no such sum.
  int shifted_row(const Node& node) const {
    if (node.kind != NodeKind::Scalar || node.op != Op::Add) return -1;
    for (std::size_t i = 0; i < 2; ++i) {
      const NodeId carried = node.operands[i];
      const int row = carried_row(original_.graph.at(carried));
      if (row >= 0 && uses_[static_cast<std::size_t>(row)] == 1 &&
          forms_[at(node.operands[1 - i])].carry_free())
        return row;
    }
    return -1;
  }

  bool visit(NodeId id) {
    const Node& node = original_.graph.at(id);
    CarriedForm& form = forms_[at(id)];
    form.coefficients.assign(states(), kNoNode);
    if (const int row = shifted_row(node); row >= 0) {
      const bool first = carried_row(original_.graph.at(node.operands[0])) == row;
      shifts_[at(row)] = value(forms_[at(node.operands[first ? 1 : 0])].constant);
      form.coefficients[at(row)] = graph_.constant(1);
      return true;
    }
    if (const int row = carried_row(node); row >= 0) {
      form.coefficients[at(row)] = graph_.constant(1);
      return true;
    }
    const bool all_early =
        std::ranges::all_of(node.operands, [&](NodeId operand) { return forms_[at(operand)].carry_free(); });
    if (all_early) {
      Node copy = node;
      for (NodeId& operand : copy.operands) operand = value(forms_[at(operand)].constant);
      form.constant = graph_.add(std::move(copy));
      return true;
    }
    // A sum over channels of a scalar parameter's gradient is linear: each channel carries its share
    // (lower/graph.cpp).
    if (node.kind == NodeKind::ReduceSum) {
      form = forms_[at(node.operands[0])];
      return true;
    }
    return node.kind == NodeKind::Scalar && combine(node, form);
  }

  bool combine(const Node& node, CarriedForm& form) {
    const auto operand = [&](std::size_t i) -> const CarriedForm& { return forms_[at(node.operands[i])]; };
    switch (node.op) {
      case Op::Add: form = sum(operand(0), operand(1)); return true;
      case Op::Sub: form = sum(operand(0), negated(operand(1))); return true;
      case Op::Neg: form = negated(operand(0)); return true;
      case Op::Mul: return product(operand(0), operand(1), form);
      case Op::Fma: {
        CarriedForm scaled;
        if (!product(operand(0), operand(1), scaled)) return false;
        form = sum(scaled, operand(2));
        return true;
      }
      case Op::Div:
        if (!operand(1).carry_free()) return false;
        form = each(operand(0), [&](NodeId n) {
          return graph_.scalar(Op::Div, {n, value(operand(1).constant)});
        });
        return true;
      case Op::Select: return choice(node, form);
      default: return false;
    }
  }

  bool product(const CarriedForm& a, const CarriedForm& b, CarriedForm& form) {
    if (!a.carry_free() && !b.carry_free()) return false;
    const CarriedForm& carried = a.carry_free() ? b : a;
    const NodeId factor = value((a.carry_free() ? a : b).constant);
    form = each(carried, [&](NodeId n) { return graph_.scalar(Op::Mul, {n, factor}); });
    return true;
  }

  bool choice(const Node& node, CarriedForm& form) {
    const CarriedForm& condition = forms_[at(node.operands[0])];
    if (!condition.carry_free()) return false;
    const CarriedForm& yes = forms_[at(node.operands[1])];
    const CarriedForm& no = forms_[at(node.operands[2])];
    const auto pick = [&](NodeId a, NodeId b) {
      if (a == kNoNode && b == kNoNode) return kNoNode;
      return graph_.scalar(Op::Select, {value(condition.constant), value(a), value(b)});
    };
    for (std::size_t k = 0; k < states(); ++k) {
      form.coefficients[k] = pick(yes.coefficients[k], no.coefficients[k]);
      cuts_ = cuts_ || (yes.coefficients[k] == kNoNode) != (no.coefficients[k] == kNoNode);
    }
    form.constant = pick(yes.constant, no.constant);
    return true;
  }

  CarriedForm sum(const CarriedForm& a, const CarriedForm& b) {
    CarriedForm result = a;
    for (std::size_t k = 0; k < states(); ++k)
      result.coefficients[k] = add(a.coefficients[k], b.coefficients[k]);
    result.constant = add(a.constant, b.constant);
    return result;
  }

  CarriedForm negated(const CarriedForm& a) {
    return each(a, [&](NodeId n) { return graph_.scalar(Op::Neg, {n}); });
  }

  template <class F>
  CarriedForm each(const CarriedForm& a, F f) {
    CarriedForm result = a;
    for (NodeId& c : result.coefficients)
      if (c != kNoNode) c = f(c);
    if (result.constant != kNoNode) result.constant = f(result.constant);
    return result;
  }

  NodeId add(NodeId a, NodeId b) {
    if (a == kNoNode) return b;
    if (b == kNoNode) return a;
    return graph_.scalar(Op::Add, {a, b});
  }
  NodeId value(NodeId id) { return id == kNoNode ? graph_.constant(0) : id; }

  LinearStep collect() {
    LinearStep result;
    std::vector<NodeId> nodes;
    std::map<NodeId, int> places;
    const auto place = [&](NodeId id) {
      if (id == kNoNode) return -1;
      const auto [known, inserted] = places.try_emplace(id, static_cast<int>(nodes.size()));
      if (inserted) nodes.push_back(id);
      return known->second;
    };
    for (const NodeId root : original_.roots) {
      const CarriedForm& form = forms_[at(root)];
      LinearForm linear;
      for (const NodeId c : form.coefficients) linear.coefficients.push_back(place(c));
      linear.constant = place(form.constant);
      result.roots.push_back(std::move(linear));
    }
    for (const NodeId shift : shifts_) result.shifts.push_back(place(shift));
    result.cuts = cuts_;
    result.carry_free = step::simplified({std::move(graph_), std::move(nodes)});
    return result;
  }

  const Task& task_;
  const step::StepGraph& original_;
  step::Graph graph_;
  std::vector<CarriedForm> forms_;
  std::vector<int> uses_;       // of each carried row, by reachable nodes and as root
  std::vector<NodeId> shifts_;  // by carried row
  bool cuts_ = false;
};

}  // namespace

std::optional<LinearStep> linear_step(const Task& task, const step::StepGraph& original) {
  return pipeline::watched(
      task.watcher, pipeline::Pass::Linearise, [&] { return Linearizer(task, original).run(); },
      [&](const std::optional<LinearStep>& linear) {
        return linear ? step::made(task.cell, linear->carry_free) : pipeline::Made{};
      });
}

}  // namespace rondo::schedule
