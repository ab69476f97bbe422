#include "compiler/step/rewriter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace rondo::step {

using scalar::Op;

Rewriter::Key Rewriter::key_of(const Node& node) const {
  Key key{static_cast<int>(node.kind),
          static_cast<int>(node.op),
          node.const_index,
          node.tensor,
          node.row,
          0,
          static_cast<int>(node.extent),
          node.offset,
          std::bit_cast<std::uint64_t>(node.value),
          node.operands,
          node.draw};
  if (node.kind == NodeKind::Scalar && scalar::info(node.op).commutative) std::ranges::sort(key.operands);
  if (node.kind == NodeKind::Gradient) {
    key.gradient_of = 1 + static_cast<int>(node.gradient.of);
    key.tensor = node.gradient.tensor;
    key.row = node.gradient.row;
  }
  return key;
}

NodeId Rewriter::keep(const Node& node) {
  const NodeId id = graph_.add(node);
  return known_.emplace(key_of(graph_.at(id)), id).first->second;
}

// Equal nodes become one; the extent is needed in the key, so the node is appended first and taken back if
// known.
NodeId Rewriter::share(Node node) {
  const NodeId id = graph_.add(std::move(node));
  const auto [entry, is_new] = known_.emplace(key_of(graph_.at(id)), id);
  if (!is_new) graph_.nodes.pop_back();
  return entry->second;
}

NodeId Rewriter::constant(double value) {
  Node node;
  node.kind = NodeKind::Constant;
  node.value = derivative_ && value == 0 ? 0.0 : value;  // no negative zero
  return share(std::move(node));
}

NodeId Rewriter::make(const Node& node) {
  switch (node.kind) {
    case NodeKind::Constant: return constant(node.value);
    case NodeKind::Scalar: {
      const std::size_t before = graph_.nodes.size();
      const NodeId id = scalar(node.op, node.operands);
      Node& made = graph_.nodes[static_cast<std::size_t>(id)];
      if (static_cast<std::size_t>(id) >= before) made.span = node.span;
      return id;
    }
    case NodeKind::MatVec:
    case NodeKind::MatTVec:
    case NodeKind::ScatterSum:
    case NodeKind::ReduceSum:
    case NodeKind::ReduceMax: return head_wide(node);
    case NodeKind::Shift:
    case NodeKind::Rotate:
    case NodeKind::PrefixSum:
    case NodeKind::SuffixSum: return along_head(node);
    case NodeKind::MaxPlus:
    case NodeKind::ArgMaxPlus:
    case NodeKind::ReduceSpread:
    case NodeKind::SumRows:
    case NodeKind::NamedConst:
    case NodeKind::Leaf:
    case NodeKind::HeadSize:
    case NodeKind::Gradient:
    case NodeKind::Uniform:
    case NodeKind::StepIndex: break;
  }
  return share(node);
}

NodeId Rewriter::scalar(Op op, std::vector<NodeId> operands) {
  if (const auto folded = fold_constants(op, operands)) return *folded;
  if (const auto simpler = identity(op, operands)) return *simpler;
  Node node;
  node.kind = NodeKind::Scalar;
  node.op = op;
  node.operands = std::move(operands);
  return share(std::move(node));
}

std::optional<NodeId> Rewriter::fold_constants(Op op, const std::vector<NodeId>& operands) {
  std::array<double, 3> values{};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!is_constant(operands[i])) return std::nullopt;
    values[i] = graph_.at(operands[i]).value;
  }
  const double value = scalar::evaluate(op, std::span<const double>(values.data(), operands.size()));
  if (!std::isfinite(value)) return std::nullopt;  // left for run time, where its text needs no literal
  return constant(value);
}

std::optional<NodeId> Rewriter::identity(Op op, const std::vector<NodeId>& o) {
  switch (op) {
    case Op::Add: return add(o[0], o[1]);
    case Op::Sub: return sub(o[0], o[1]);
    case Op::Mul: return mul(o[0], o[1]);
    case Op::Div: return div(o[0], o[1]);
    case Op::Neg: return neg(o[0]);
    case Op::Fma: return fma(o[0], o[1], o[2]);
    case Op::Select: return select(o[0], o[1], o[2]);
    case Op::Pow: return pow(o[0], o[1]);
    case Op::Round:
    case Op::Floor: return is(o[0], Op::Round) || is(o[0], Op::Floor) ? std::optional(o[0]) : std::nullopt;
    case Op::WithGradient: return with_gradient(o[0], o[1]);
    case Op::And:
    case Op::Or: return logic(op, o[0], o[1]);
    case Op::Min:
    case Op::Max: return o[0] == o[1] ? std::optional(o[0]) : std::nullopt;
    case Op::Abs:
      if (is(o[0], Op::Abs)) return o[0];
      [[fallthrough]];
    case Op::Square:
      if (is(o[0], Op::Neg)) return scalar(op, {operand(o[0], 0)});
      return std::nullopt;
    case Op::Not:
      if (is(o[0], Op::Not) && is_truth(operand(o[0], 0))) return operand(o[0], 0);
      return std::nullopt;
    default: return std::nullopt;
  }
}

std::optional<NodeId> Rewriter::add(NodeId a, NodeId b) {
  if (is_number(a, 0)) return b;
  if (is_number(b, 0)) return a;
  if (is(a, Op::Neg) && is(b, Op::Neg))
    return scalar(Op::Neg, {scalar(Op::Add, {operand(a, 0), operand(b, 0)})});
  if (is(b, Op::Neg)) return scalar(Op::Sub, {a, operand(b, 0)});
  if (is(a, Op::Neg)) return scalar(Op::Sub, {b, operand(a, 0)});
  return merge_selects(a, b);
}

// select(c, x, 0) + select(c, 0, y) = select(c, x, y): the two sides of a min, a max or a select of one
// variable.
std::optional<NodeId> Rewriter::merge_selects(NodeId a, NodeId b) {
  if (!derivative_ || !is(a, Op::Select) || !is(b, Op::Select) || operand(a, 0) != operand(b, 0))
    return std::nullopt;
  if (is_number(operand(a, 2), 0) && is_number(operand(b, 1), 0))
    return scalar(Op::Select, {operand(a, 0), operand(a, 1), operand(b, 2)});
  if (is_number(operand(a, 1), 0) && is_number(operand(b, 2), 0))
    return scalar(Op::Select, {operand(a, 0), operand(b, 1), operand(a, 2)});
  return std::nullopt;
}

std::optional<NodeId> Rewriter::sub(NodeId a, NodeId b) {
  if (is_number(b, 0)) return a;
  if (is_number(a, 0)) return scalar(Op::Neg, {b});
  if (is(b, Op::Neg)) return scalar(Op::Add, {a, operand(b, 0)});
  return std::nullopt;
}

std::optional<NodeId> Rewriter::mul(NodeId a, NodeId b) {
  if (is(a, Op::Neg) && is(b, Op::Neg)) return scalar(Op::Mul, {operand(a, 0), operand(b, 0)});
  if (const auto simpler = mul_by(a, b)) return simpler;
  return mul_by(b, a);
}

std::optional<NodeId> Rewriter::mul_by(NodeId factor, NodeId other) {
  if (is_number(factor, 1)) return other;
  if (is_number(factor, -1)) return scalar(Op::Neg, {other});
  if (is_number(factor, 0) && (derivative_ || is_finite(other))) return constant(0);
  if (is(factor, Op::Neg)) {
    if (is_constant(other)) return scalar(Op::Mul, {constant(-graph_.at(other).value), operand(factor, 0)});
    return scalar(Op::Neg, {scalar(Op::Mul, {operand(factor, 0), other})});
  }
  if (derivative_ && is(factor, Op::Select)) {
    const NodeId condition = operand(factor, 0), yes = operand(factor, 1), no = operand(factor, 2);
    if (is_number(no, 0)) return scalar(Op::Select, {condition, scalar(Op::Mul, {other, yes}), no});
    if (is_number(yes, 0)) return scalar(Op::Select, {condition, yes, scalar(Op::Mul, {other, no})});
  }
  return std::nullopt;
}

std::optional<NodeId> Rewriter::div(NodeId a, NodeId b) {
  if (is_number(b, 1)) return a;
  if (is_number(b, -1)) return scalar(Op::Neg, {a});
  if (derivative_ && is_number(a, 0)) return constant(0);
  if (is(a, Op::Neg)) return scalar(Op::Neg, {scalar(Op::Div, {operand(a, 0), b})});
  if (is(b, Op::Neg)) return scalar(Op::Neg, {scalar(Op::Div, {a, operand(b, 0)})});
  if (is_constant(b)) {
    // By a power of two: the product with the reciprocal is exact.
    int exponent = 0;
    const double value = graph_.at(b).value;
    if (std::abs(std::frexp(value, &exponent)) == 0.5 && std::abs(exponent) < 64)
      return scalar(Op::Mul, {a, constant(1 / value)});
  }
  return std::nullopt;
}

std::optional<NodeId> Rewriter::neg(NodeId a) {
  if (is(a, Op::Neg)) return operand(a, 0);
  if (is(a, Op::Sub)) return scalar(Op::Sub, {operand(a, 1), operand(a, 0)});
  if (!is(a, Op::Mul)) return std::nullopt;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (is_constant(operand(a, i)))
      return scalar(Op::Mul, {constant(-graph_.at(operand(a, i)).value), operand(a, 1 - i)});
  return std::nullopt;
}

std::optional<NodeId> Rewriter::fma(NodeId a, NodeId b, NodeId c) {
  for (const auto& [factor, other] : {std::pair{a, b}, std::pair{b, a}}) {
    if (is_number(factor, 1)) return scalar(Op::Add, {other, c});
    if (is_number(factor, -1)) return scalar(Op::Sub, {c, other});
    if (is_number(factor, 0) && (derivative_ || is_finite(other))) return c;
  }
  if (is_number(c, 0)) return scalar(Op::Mul, {a, b});
  return std::nullopt;
}

std::optional<NodeId> Rewriter::select(NodeId condition, NodeId a, NodeId b) {
  if (is_constant(condition)) return graph_.at(condition).value != 0 ? a : b;
  if (a == b) return a;
  if (is(condition, Op::Not)) return scalar(Op::Select, {operand(condition, 0), b, a});
  return std::nullopt;
}

// Powers of which a product is the nearer value, and costs less.
std::optional<NodeId> Rewriter::pow(NodeId base, NodeId exponent) {
  if (is_number(exponent, 0)) return constant(1);
  if (is_number(exponent, 1)) return base;
  if (is_number(exponent, 2)) return scalar(Op::Square, {base});
  if (is_number(exponent, 3)) return scalar(Op::Mul, {scalar(Op::Square, {base}), base});
  if (is_number(exponent, -1)) return scalar(Op::Recip, {base});
  return std::nullopt;
}

// Of the value only the value counts, of the other one only the derivative.
std::optional<NodeId> Rewriter::with_gradient(NodeId value, NodeId smooth) {
  if (value == smooth) return value;
  if (is(value, Op::WithGradient)) return scalar(Op::WithGradient, {operand(value, 0), smooth});
  if (is(smooth, Op::WithGradient)) return scalar(Op::WithGradient, {value, operand(smooth, 1)});
  if (is_constant(smooth) && !is_number(smooth, 0)) return scalar(Op::WithGradient, {value, constant(0)});
  return std::nullopt;
}

std::optional<NodeId> Rewriter::logic(Op op, NodeId a, NodeId b) {
  if (a == b && is_truth(a)) return a;
  if (is_constant(a)) std::swap(a, b);
  if (!is_constant(b)) return std::nullopt;
  const bool truth = graph_.at(b).value != 0;
  if (truth != (op == Op::And)) return constant(truth ? 1 : 0);  // x and 0, x or 1
  return is_truth(a) ? std::optional(a) : std::nullopt;          // x and 1, x or 0
}

NodeId Rewriter::head_wide(const Node& node) {
  const NodeId vector = node.operands[0];
  const bool reduction = node.kind == NodeKind::ReduceSum || node.kind == NodeKind::ReduceMax;
  if (reduction && graph_.at(vector).extent == Extent::Scalar) {
    if (node.kind == NodeKind::ReduceMax) return vector;
    Node size;
    size.kind = NodeKind::HeadSize;
    return scalar(Op::Mul, {vector, share(std::move(size))});
  }
  if (!reduction && derivative_ && is_number(vector, 0)) return constant(0);
  if (node.kind != NodeKind::ReduceMax && is(vector, Op::Neg)) {
    Node positive = node;
    positive.operands.front() = operand(vector, 0);
    return scalar(Op::Neg, {head_wide(positive)});
  }
  return share(node);
}

// A linear map of finite numbers alone: zeros stay zeros.
NodeId Rewriter::along_head(const Node& node) {
  const NodeId vector = node.operands[0];
  const bool moves = node.kind == NodeKind::Shift || node.kind == NodeKind::Rotate;
  if ((moves && node.offset == 0) || is_number(vector, 0)) return vector;
  if (node.kind == NodeKind::Rotate && graph_.at(vector).extent == Extent::Scalar) return vector;
  if (is(vector, Op::Neg)) {
    Node positive = node;
    positive.operands = {operand(vector, 0)};
    return scalar(Op::Neg, {along_head(positive)});
  }
  return share(node);
}

bool Rewriter::is(NodeId id, Op op) const {
  return graph_.at(id).kind == NodeKind::Scalar && graph_.at(id).op == op;
}

bool Rewriter::is_constant(NodeId id) const { return graph_.at(id).kind == NodeKind::Constant; }

bool Rewriter::is_number(NodeId id, double value) const {
  return is_constant(id) && graph_.at(id).value == value;
}

bool Rewriter::is_finite(NodeId id) const {
  return graph_.at(id).kind == NodeKind::HeadSize || (is_constant(id) && std::isfinite(graph_.at(id).value));
}

// 1 or 0 whatever the operands.
bool Rewriter::is_truth(NodeId id) const {
  const Node& node = graph_.at(id);
  return node.kind == NodeKind::Scalar && node.op >= Op::Less && node.op <= Op::Not;
}

}  // namespace rondo::step
