#include "compiler/schedule/lower/graph.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "compiler/schedule/analysis/contraction.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/step/folded.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

constexpr int kInlineDepth = 2;  // deeper expressions get a register of their own, to keep the text readable

}  // namespace

GraphLowering::GraphLowering(kernel::Builder& builder, const Task& task, const step::Graph& graph,
                             std::vector<NodeId> roots, bool contract)
    : builder_(builder),
      task_(task),
      graph_(graph),
      roots_(std::move(roots)),
      contract_(contract && task.problem.math == kernel::Math::Fast && may_contract(task)) {
  numbers_ = step::folded_numbers(graph_, constant_values(task.cell, task.problem),
                                  static_cast<double>(task.problem.sizes.dim));
  leave_to_builder();
  needed_ = reachable(graph_, roots_);
  uses_.assign(graph_.nodes.size(), 0);
  depth_.assign(graph_.nodes.size(), 0);
  invariant_.assign(graph_.nodes.size(), false);
  for (const NodeId root : roots_)
    if (root != step::kNoNode) ++uses_[at(root)];
  for (const NodeId id : needed_) {
    const Node& node = graph_.at(id);
    bool invariant = node.kind != NodeKind::Gradient && !step::is_product(node) && !step::is_of_place(node) &&
                     !step::crosses_head(node);
    if (node.kind == NodeKind::Leaf)
      invariant = task_.cell.tensor(node.tensor).kind == step::TensorKind::Param;
    for (const NodeId operand : node.operands) {
      ++uses_[at(operand)];
      invariant = invariant && invariant_[at(operand)];
    }
    invariant_[at(id)] = invariant;
  }
  for (const NodeId id : needed_) {
    if (!is_computed(id)) continue;
    for (const NodeId operand : graph_.at(id).operands)
      depth_[at(id)] = std::max(depth_[at(id)], worth_a_name(operand) ? 1 : depth_[at(operand)] + 1);
  }
}

// Numbers that the builder, which folds operation by operation in fp32, has just the same: their operations
// stay, and the texts of kernels with them.
void GraphLowering::leave_to_builder() {
  std::vector<std::optional<float>> built(graph_.nodes.size());
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    if (!numbers_[i]) continue;
    built[i] = static_cast<float>(*numbers_[i]);
    if (node.kind != NodeKind::Scalar) continue;
    std::vector<float> operands;
    for (const NodeId operand : node.operands) operands.push_back(*built[at(operand)]);
    const float same = scalar::evaluate(node.op, std::span<const float>(operands));
    if (same == *built[i] || std::isinf(*built[i])) numbers_[i].reset();  // no literal is infinite
  }
}

bool GraphLowering::is_computed(NodeId id) const {
  return graph_.at(id).kind == NodeKind::Scalar && !numbers_[at(id)];
}

bool GraphLowering::worth_a_name(NodeId id) const {
  const Node& node = graph_.at(id);
  if (!is_computed(id)) return false;
  return uses_[at(id)] > 1 || !node.label.empty() || depth_[at(id)] > kInlineDepth;
}

bool GraphLowering::uses(step::TensorId tensor, int row) const {
  return std::ranges::any_of(needed_, [&](NodeId id) {
    const Node& node = graph_.at(id);
    return node.kind == NodeKind::Leaf && node.tensor == tensor && node.row == row;
  });
}

// y, if the node is 1 - y, which changes from step to step and only one other node reads.
std::optional<NodeId> GraphLowering::complement(NodeId id) const {
  const Node& node = graph_.at(id);
  if (node.kind != NodeKind::Scalar || node.op != scalar::Op::Sub) return std::nullopt;
  if (worth_a_name(id) || invariant_[at(id)]) return std::nullopt;
  const Node& one = graph_.at(node.operands[0]);
  if (one.kind != NodeKind::Constant || one.value != 1) return std::nullopt;
  return node.operands[1];
}

std::optional<GraphLowering::Contraction> GraphLowering::contraction(const Node& node,
                                                                     const Values& values) const {
  if (node.kind != NodeKind::Scalar || node.op != scalar::Op::Mul || !contract_) return std::nullopt;
  for (const std::size_t side : {0, 1})
    if (const auto y = complement(node.operands[side]); y && values.count(*y) != 0)
      return Contraction{node.operands[1 - side], *y};
  return std::nullopt;
}

std::vector<NodeId> GraphLowering::read_by(NodeId id, const Values& values) const {
  if (const auto contracted = contraction(graph_.at(id), values)) return {contracted->x, contracted->y};
  return graph_.at(id).operands;
}

// x (1 - y), of which gated cells are made, as x - y x: one instruction, rounded once. An infinite x gives
// NaN.
Value GraphLowering::scalar(const Node& node, const Values& values) const {
  if (const auto contracted = contraction(node, values)) {
    const bool inlined = is_computed(contracted->x) && !worth_a_name(contracted->x);
    const Value given = values.at(contracted->x), x = inlined ? builder_.let("v", given) : given;
    return builder_.math(scalar::Op::Fma, {builder_.math(scalar::Op::Neg, {values.at(contracted->y)}), x, x});
  }
  std::vector<Value> args;
  for (const NodeId operand : node.operands) args.push_back(values.at(operand));
  return builder_.math(node.op, args);
}

// Sets values[id]; false if it was set already.
bool GraphLowering::emit(NodeId id, Values& values, const LeafValue& leaf) const {
  if (values.count(id) != 0) return false;
  const Node& node = graph_.at(id);
  if (const std::optional<double>& number = numbers_[at(id)]) {
    values[id] = builder_.real(*number);
    return true;
  }
  switch (node.kind) {
    case NodeKind::Leaf:
    case NodeKind::Gradient:
    case NodeKind::MatVec:
    case NodeKind::MatTVec:
    case NodeKind::MaxPlus:
    case NodeKind::ArgMaxPlus:
    case NodeKind::ScatterSum: values[id] = leaf(node); return true;
    case NodeKind::StepIndex:
      values[id] = builder_.let(node.label.empty() ? "step" : node.label, leaf(node));
      return true;
    case NodeKind::Uniform:
      values[id] = builder_.let(node.label.empty() ? node.draw : node.label, leaf(node));
      return true;
    case NodeKind::Scalar: {
      const Value value = scalar(node, values);
      values[id] = worth_a_name(id) ? builder_.let(node.label.empty() ? "v" : node.label, value) : value;
      return true;
    }
    // Only gradients of scalar parameters sum over channels here; where the step itself reduces, the caller
    // supplies the values. They are linear in these sums, so each channel may carry its own share: the
    // reduction kernel adds the channels up.
    case NodeKind::ReduceSum: values[id] = values.at(node.operands[0]); return true;
    case NodeKind::ReduceMax:
    case NodeKind::ReduceSpread:
    case NodeKind::Shift:
    case NodeKind::Rotate:
    case NodeKind::PrefixSum:
    case NodeKind::SuffixSum:
    case NodeKind::SumRows:
    case NodeKind::Constant:
    case NodeKind::NamedConst:
    case NodeKind::HeadSize: break;
  }
  throw std::logic_error("a node that couples channels cannot be lowered for one channel");
}

Value GraphLowering::draw(const Node& node, int channel, const DrawPlace& place) const {
  if (node.kind == NodeKind::StepIndex) return builder_.to_real(place.step);
  const Value seed = hoisted(channel, node.operands[0]);
  if (!seed.valid()) throw std::logic_error("a draw whose seed has not been loaded");
  return builder_.uniform(step::draw_stream(node), seed, place.row, place.step, place.head, place.channel);
}

void GraphLowering::hoist(int channel, const LeafValue& param) {
  for (const NodeId id : needed_)
    if (invariant_[at(id)]) emit(id, hoisted_[channel], param);
}

std::vector<NodeId> GraphLowering::invariants_read() const {
  std::vector<bool> read(graph_.nodes.size(), false);
  for (const NodeId root : roots_)
    if (root != step::kNoNode) read[at(root)] = true;
  for (const NodeId id : needed_)
    if (!invariant_[at(id)])
      for (const NodeId operand : graph_.at(id).operands) read[at(operand)] = true;
  std::vector<NodeId> result;
  for (const NodeId id : needed_) {
    const bool has_value = graph_.at(id).kind == NodeKind::Leaf || is_computed(id);
    if (read[at(id)] && invariant_[at(id)] && has_value) result.push_back(id);
  }
  return result;
}

Value GraphLowering::hoisted(int channel, NodeId root) const {
  const auto values = hoisted_.find(channel);
  if (values == hoisted_.end()) return {};
  const auto value = values->second.find(root);
  return value == values->second.end() ? Value{} : value->second;
}

std::vector<Value> GraphLowering::lower(int channel, const LeafValue& leaf) {
  Values values = start(channel);
  return emit_roots(values, roots_, leaf);
}

GraphLowering::Values GraphLowering::start(int channel) const {
  const auto hoisted = hoisted_.find(channel);
  return hoisted == hoisted_.end() ? Values{} : hoisted->second;
}

std::vector<Value> GraphLowering::emit_roots(Values& values, const std::vector<NodeId>& roots,
                                             const LeafValue& leaf) const {
  for (const NodeId id : missing(values, roots)) emit(id, values, leaf);
  std::vector<Value> results;
  for (const NodeId root : roots) results.push_back(root == step::kNoNode ? Value{} : values.at(root));
  return results;
}

std::vector<NodeId> GraphLowering::missing(const Values& values, const std::vector<NodeId>& roots) const {
  std::vector<bool> needed(graph_.nodes.size(), false);
  for (const NodeId root : roots)
    if (root != step::kNoNode) needed[at(root)] = true;
  std::vector<NodeId> result;
  for (auto id = static_cast<NodeId>(needed.size()) - 1; id >= 0; --id) {  // operands come before their users
    if (!needed[at(id)] || values.count(id) != 0) continue;
    result.push_back(id);
    for (const NodeId operand : graph_.at(id).operands) needed[at(operand)] = true;
  }
  std::ranges::reverse(result);
  return result;
}

}  // namespace rondo::schedule
