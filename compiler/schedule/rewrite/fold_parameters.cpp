#include "compiler/schedule/rewrite/fold_parameters.h"

#include <algorithm>
#include <utility>

#include "compiler/schedule/analysis/history.h"
#include "compiler/step/simplify.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

// Whether a node is the same at every step, by the same of its operands.
template <class IsFixed>
bool is_fixed(const step::Cell& cell, const Node& node, const IsFixed& operand_is) {
  switch (node.kind) {
    case NodeKind::Constant:
    case NodeKind::NamedConst:
    case NodeKind::HeadSize: return true;
    case NodeKind::Leaf: return cell.tensor(node.tensor).kind == step::TensorKind::Param;
    case NodeKind::Scalar: return std::ranges::all_of(node.operands, operand_is);
    default: return false;
  }
}

// alpha * late + beta, alpha and beta the same at every step; kNoNode stands for alpha = 1 and beta = 0.
struct FoldedForm {
  NodeId alpha = kNoNode;
  NodeId late = kNoNode;
  NodeId beta = kNoNode;
};

class Folder {
 public:
  Folder(const step::Cell& cell, const step::StepGraph& original) : cell_(cell), original_(original) {}

  step::StepGraph run() {
    const std::size_t count = original_.graph.nodes.size();
    value_.assign(count, kNoNode);
    form_.resize(count);
    fixed_.assign(count, false);
    uses_.assign(count, 0);
    const std::vector<NodeId> needed = reachable(original_.graph, original_.roots);
    for (const NodeId root : original_.roots)
      if (root != kNoNode) ++uses_[at(root)];
    for (const NodeId id : needed)
      for (const NodeId operand : original_.graph.at(id).operands) ++uses_[at(operand)];
    for (const NodeId id : needed) visit(id);
    std::vector<NodeId> roots;
    for (const NodeId root : original_.roots) roots.push_back(root == kNoNode ? kNoNode : value(root));
    return step::simplified({std::move(out_), std::move(roots)});
  }

 private:
  void visit(NodeId id) {
    const Node& node = original_.graph.at(id);
    fixed_[at(id)] = is_fixed(cell_, node, [&](NodeId operand) { return fixed_[at(operand)]; });
    if (!fixed_[at(id)] && node.kind == NodeKind::Scalar && fold(id, node)) return;
    form_[at(id)].late = value_[at(id)] = copy(node);
  }

  // Gives the node a form if it is a sum or product with what stays, or a sigmoid.
  bool fold(NodeId id, const Node& node) {
    FoldedForm& form = form_[at(id)];
    const auto fixed = [&](std::size_t i) { return fixed_[at(node.operands[i])]; };
    const auto operand = [&](std::size_t i) { return form_[at(node.operands[i])]; };
    const auto factor = [&](std::size_t i) { return value(node.operands[i]); };
    // What is needed by itself too would be computed twice.
    const auto alone = [&](std::size_t i) { return uses_[at(node.operands[i])] == 1; };
    switch (node.op) {
      case Op::Add:
        if (!fixed(0) && !fixed(1)) return false;
        form = fixed(0) ? plus(operand(1), factor(0)) : plus(operand(0), factor(1));
        return true;
      case Op::Sub:
        if (fixed(1)) return form = plus(operand(0), out_.scalar(Op::Neg, {factor(1)})), true;
        if (!fixed(0) || !alone(1)) return false;
        form = plus(times(operand(1), out_.constant(-1)), factor(0));
        return true;
      case Op::Mul:
        if (!fixed(0) && !fixed(1)) return false;
        form = fixed(0) ? times(operand(1), factor(0)) : times(operand(0), factor(1));
        return true;
      case Op::Sigmoid: {
        const NodeId half = out_.constant(0.5);
        form = {half, out_.scalar(Op::Tanh, {materialize(times(operand(0), half))}), half};
        return true;
      }
      default: return false;
    }
  }

  NodeId product(NodeId a, NodeId b) { return a == kNoNode ? b : out_.scalar(Op::Mul, {a, b}); }
  FoldedForm times(const FoldedForm& form, NodeId factor) {
    return {product(form.alpha, factor), form.late,
            form.beta == kNoNode ? kNoNode : product(form.beta, factor)};
  }
  FoldedForm plus(const FoldedForm& form, NodeId summand) {
    return {form.alpha, form.late,
            form.beta == kNoNode ? summand : out_.scalar(Op::Add, {form.beta, summand})};
  }

  NodeId materialize(const FoldedForm& form) {
    if (form.alpha == kNoNode && form.beta == kNoNode) return form.late;
    if (form.alpha == kNoNode) return out_.scalar(Op::Add, {form.late, form.beta});
    if (form.beta == kNoNode) return out_.scalar(Op::Mul, {form.alpha, form.late});
    return out_.scalar(Op::Fma, {form.alpha, form.late, form.beta});
  }

  // The node's value, computed where it is first needed by itself.
  NodeId value(NodeId id) {
    NodeId& known = value_[at(id)];
    if (known != kNoNode) return known;
    known = materialize(form_[at(id)]);
    Node& made = out_.nodes[at(known)];
    if (made.label.empty()) made.label = original_.graph.at(id).label;
    return known;
  }

  NodeId copy(const Node& node) {
    Node same = node;
    for (NodeId& operand : same.operands) operand = value(operand);
    return out_.add(std::move(same));
  }

  const step::Cell& cell_;
  const step::StepGraph& original_;
  step::Graph out_;
  // By node of the original:
  std::vector<NodeId> value_;  // the same value in out_, once it is there
  std::vector<FoldedForm> form_;
  std::vector<bool> fixed_;  // does not change from step to step
  std::vector<int> uses_;
};

// Instructions that each step makes: what parameters and constants decide is made before, and a sign costs
// nothing; nor does, `contracted`, the 1 - y of a product.
int instructions(const step::Cell& cell, const step::StepGraph& step, bool contracted) {
  int count = 0;
  std::vector<bool> fixed(step.graph.nodes.size(), false);
  std::vector<int> uses(step.graph.nodes.size(), 0);
  const std::vector<NodeId> needed = reachable(step.graph, step.roots);
  for (const NodeId root : step.roots)
    if (root != kNoNode) ++uses[at(root)];
  for (const NodeId id : needed)
    for (const NodeId operand : step.graph.at(id).operands) ++uses[at(operand)];
  const auto is_complement = [&](NodeId id) {
    const Node& node = step.graph.at(id);
    if (node.kind != NodeKind::Scalar || node.op != Op::Sub || uses[at(id)] != 1 || fixed[at(id)])
      return false;
    const Node& one = step.graph.at(node.operands[0]);
    return one.kind == NodeKind::Constant && one.value == 1 && node.label.empty();
  };
  for (const NodeId id : needed) {
    const Node& node = step.graph.at(id);
    fixed[at(id)] = is_fixed(cell, node, [&](NodeId operand) { return fixed[at(operand)]; });
    if (fixed[at(id)] || node.kind != NodeKind::Scalar || node.op == Op::Neg) continue;
    const scalar::Cost& cost = scalar::info(node.op).fast;
    count += cost.alu + cost.special;
    if (contracted && node.op == Op::Mul &&
        (is_complement(node.operands[0]) || is_complement(node.operands[1])))
      --count;
  }
  return count;
}

}  // namespace

int instructions_folded(const Task& task, const std::string& name,
                        const std::function<step::StepGraph()>& step) {
  return *task.fact<int>("instructions folded in " + name, [&] {
    const step::StepGraph original = step();
    return instructions(task.cell, original, false) -
           instructions(task.cell, fold_parameters(task.cell, original), true);
  });
}

step::StepGraph fold_parameters(const step::Cell& cell, const step::StepGraph& original) {
  return Folder(cell, original).run();
}

}  // namespace rondo::schedule
