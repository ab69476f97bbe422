#include "compiler/step/bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <span>

#include "compiler/scalar/table.h"
#include "compiler/step/ranges.h"
#include "compiler/support/index.h"

namespace rondo::step {

namespace {

using scalar::Op;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// All intervals here hold their ends, which may be infinite: no number is.
constexpr Interval kAny{-kInfinity, kInfinity};

bool is_within(const Interval& numbers, double bound) {
  return numbers.low >= -bound && numbers.high <= bound;
}

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// Of a function that has its extremes where its operands have theirs. 0 by infinity is 0: no number is
// infinite.
Interval of_corners(Op op, const std::vector<Interval>& operands) {
  Interval result{kInfinity, -kInfinity};
  for (unsigned corner = 0; corner < 1U << operands.size(); ++corner) {
    std::array<double, 3> at_corner{};
    for (std::size_t i = 0; i < operands.size(); ++i)
      at_corner[i] = (corner >> i & 1) != 0 ? operands[i].high : operands[i].low;
    double value = scalar::evaluate(op, std::span<const double>(at_corner.data(), operands.size()));
    if (std::isnan(value)) {
      if (op != Op::Mul) return kAny;
      value = 0;
    }
    result = hull(result, {value, value});
  }
  return result;
}

class Bounds {
 public:
  Bounds(const Cell& cell, const std::vector<bool>& within, double bound)
      : cell_(cell), within_(within), bound_(bound) {
    for (const Node& node : cell.graph.nodes) intervals_.push_back(of_node(node));
  }
  const Interval& at(NodeId id) const { return intervals_[rondo::at(id)]; }

 private:
  Interval of_node(const Node& node) const {
    switch (node.kind) {
      case NodeKind::Constant: return {node.value, node.value};
      case NodeKind::HeadSize: return {1, kInfinity};
      case NodeKind::StepIndex:
      case NodeKind::ArgMaxPlus: return {0, kInfinity};
      case NodeKind::Uniform: return {0, 1};
      case NodeKind::Leaf: return of_leaf(node);
      case NodeKind::Scalar: return of_scalar(node);
      case NodeKind::ReduceMax:
      case NodeKind::Rotate: return at(node.operands[0]);
      case NodeKind::Shift:
        return {std::min(at(node.operands[0]).low, 0.0), std::max(at(node.operands[0]).high, 0.0)};
      case NodeKind::PrefixSum:
      case NodeKind::SuffixSum: return of_running_sum(at(node.operands[0]));
      case NodeKind::NamedConst:
      case NodeKind::Gradient:
      case NodeKind::MatVec:
      case NodeKind::MatTVec:
      case NodeKind::MaxPlus:
      case NodeKind::ScatterSum:
      case NodeKind::ReduceSum:
      case NodeKind::SumRows:
      case NodeKind::ReduceSpread: return kAny;
    }
    return kAny;
  }

  // Of one number or more.
  static Interval of_running_sum(const Interval& each) {
    return {each.low >= 0 ? each.low : -kInfinity, each.high <= 0 ? each.high : kInfinity};
  }

  // A range of an input or a parameter is a promise, that of a state is not (ranges.h).
  Interval of_leaf(const Node& node) const {
    const Tensor& tensor = cell_.tensors[rondo::at(node.tensor)];
    if (is_flag(tensor.kind)) return {0, 1};
    if (tensor.kind == TensorKind::State) return within_[rondo::at(node.tensor)] ? own() : kAny;
    const Interval declared = range_of(tensor);
    return tensor.kind == TensorKind::Input
               ? Interval{std::max(declared.low, -bound_), std::min(declared.high, bound_)}
               : declared;
  }
  Interval own() const { return {-bound_, bound_}; }

  // Of its ends those that no caller can move.
  static Interval range_of(const Tensor& tensor) {
    Interval result = kAny;
    if (tensor.range && tensor.range->low.const_index < 0) result.low = tensor.range->low.value;
    if (tensor.range && tensor.range->high.const_index < 0) result.high = tensor.range->high.value;
    return result;
  }

  Interval of_scalar(const Node& node) const {
    if (node.op == Op::Add || node.op == Op::Sub)
      if (const auto mixed = of_mixture(node)) return *mixed;
    std::vector<Interval> operands;
    for (const NodeId id : node.operands) operands.push_back(at(id));
    return of_function(node.op, operands);
  }

  static Interval of_function(Op op, const std::vector<Interval>& x) {
    switch (op) {
      case Op::Sin:
      case Op::Cos:
      case Op::Sign: return {-1, 1};
      case Op::Atan2: return {-std::numbers::pi, std::numbers::pi};
      case Op::WithGradient: return x[0];
      case Op::Less:
      case Op::LessEqual:
      case Op::Greater:
      case Op::GreaterEqual:
      case Op::Equal:
      case Op::NotEqual:
      case Op::And:
      case Op::Or:
      case Op::Not: return {0, 1};
      case Op::Select: return hull(x[1], x[2]);
      case Op::Abs:
      case Op::Square: {
        Interval result = of_corners(op, x);
        if (x[0].low <= 0 && x[0].high >= 0) result.low = 0;
        return result;
      }
      // Both fall to a least value, at -1.28 and -0.75, and rise from there on.
      case Op::Silu: return {-0.2785, std::max(0.0, x[0].high)};
      case Op::Gelu: return {-0.17, std::max(0.0, x[0].high)};
      case Op::Div: return x[1].low > 0 || x[1].high < 0 ? of_corners(op, x) : kAny;
      case Op::Recip: return x[0].low > 0 || x[0].high < 0 ? of_corners(op, x) : kAny;
      case Op::Pow:
      case Op::Log:
      case Op::Log1p:
      case Op::Sqrt:
      case Op::Rsqrt: return x[0].low > 0 ? of_corners(op, x) : kAny;
      case Op::Fma: return of_corners(Op::Add, {of_corners(Op::Mul, {x[0], x[1]}), x[2]});
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
      case Op::Neg:
      case Op::Min:
      case Op::Max:
      case Op::Exp:
      case Op::Exp2:
      case Op::Expm1:
      case Op::Round:
      case Op::Floor:
      case Op::Sigmoid:
      case Op::Tanh:
      case Op::Relu:
      case Op::Softplus:
      case Op::Erf: return of_corners(op, x);
    }
    return kAny;
  }

  // z a + (1 - z) b and a + z (b - a) with z between 0 and 1 lie between a and b.
  std::optional<Interval> of_mixture(const Node& node) const {
    for (const auto& [one, other] :
         {std::array{node.operands[0], node.operands[1]}, std::array{node.operands[1], node.operands[0]}}) {
      if (node.op == Op::Add)
        if (const auto mixed = of_weights(one, other)) return mixed;
      if (node.op == Op::Add || one == node.operands[0])
        if (const auto mixed = of_step_towards(one, other, node.op == Op::Sub)) return mixed;
    }
    return std::nullopt;
  }

  const Node* if_scalar(NodeId id, Op op) const {
    const Node& node = cell_.graph.at(id);
    return node.kind == NodeKind::Scalar && node.op == op ? &node : nullptr;
  }
  bool is_weight(NodeId id) const { return at(id).low >= 0 && at(id).high <= 1; }

  std::optional<Interval> of_weights(NodeId one, NodeId other) const {
    const Node *a = if_scalar(one, Op::Mul), *b = if_scalar(other, Op::Mul);
    if (a == nullptr || b == nullptr) return std::nullopt;
    for (const std::size_t i : {0, 1})
      for (const std::size_t k : {0, 1}) {
        const Node* rest = if_scalar(b->operands[k], Op::Sub);
        if (rest == nullptr || rest->operands[1] != a->operands[i] || !is_weight(a->operands[i])) continue;
        const Node& from = cell_.graph.at(rest->operands[0]);
        if (from.kind == NodeKind::Constant && from.value == 1)
          return hull(at(a->operands[1 - i]), at(b->operands[1 - k]));
      }
    return std::nullopt;
  }

  // `away`: from a comes off z (a - b).
  std::optional<Interval> of_step_towards(NodeId from, NodeId step, bool away) const {
    const Node* product = if_scalar(step, Op::Mul);
    if (product == nullptr) return std::nullopt;
    for (const std::size_t i : {0, 1}) {
      const Node* distance = if_scalar(product->operands[i], Op::Sub);
      if (distance == nullptr || !is_weight(product->operands[1 - i])) continue;
      if (distance->operands[away ? 0 : 1] == from)
        return hull(at(from), at(distance->operands[away ? 1 : 0]));
    }
    return std::nullopt;
  }

  const Cell& cell_;
  const std::vector<bool>& within_;
  double bound_;
  std::vector<Interval> intervals_;  // by node, as far as it is filled
};

// Not if callers set the number, a named constant.
bool begins_within(const DeclaredNumber& first, double bound) {
  return first.const_index < 0 && std::abs(first.value) <= bound;
}

}  // namespace

// The largest set of states that hold each other within: those that a step leads out are taken away until
// none is.
std::vector<bool> states_within(const Cell& cell, double bound) {
  std::vector<bool> within(cell.tensors.size());
  for (const TensorId id : cell.of_kind(TensorKind::State))
    within[at(id)] = begins_within(cell.tensor(id).first, bound);
  for (bool changed = true; changed;) {
    changed = false;
    const Bounds bounds(cell, within, bound);
    for (const Row& next : cell.next)
      if (within[at(next.tensor)] && !is_within(bounds.at(next.value), bound)) {
        within[at(next.tensor)] = false;
        changed = true;
      }
  }
  return within;
}

}  // namespace rondo::step
