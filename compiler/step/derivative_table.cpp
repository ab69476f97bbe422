#include "compiler/step/derivative_table.h"

#include <array>
#include <numbers>

namespace rondo::step {

namespace {

using scalar::Op;

// A node that writes like the formula it stands for.
struct Term {
  Graph* graph = nullptr;
  NodeId id = kNoNode;

  Term make(Op op, std::vector<NodeId> operands) const {
    return {graph, graph->scalar(op, std::move(operands))};
  }
  Term of(Op op) const { return make(op, {id}); }
  Term number(double value) const { return {graph, graph->constant(value)}; }
};

Term operator+(Term a, Term b) { return a.make(Op::Add, {a.id, b.id}); }
Term operator-(Term a, Term b) { return a.make(Op::Sub, {a.id, b.id}); }
Term operator*(Term a, Term b) { return a.make(Op::Mul, {a.id, b.id}); }
Term operator/(Term a, Term b) { return a.make(Op::Div, {a.id, b.id}); }
Term operator-(Term a) { return a.of(Op::Neg); }
Term operator+(double a, Term b) { return b.number(a) + b; }
Term operator-(double a, Term b) { return b.number(a) - b; }
Term operator*(double a, Term b) { return b.number(a) * b; }
Term operator/(double a, Term b) { return b.number(a) / b; }
Term choose(Term condition, double yes, double no) {
  return condition.make(Op::Select, {condition.id, condition.number(yes).id, condition.number(no).id});
}
Term at_most(Term a, Term b) { return a.make(Op::LessEqual, {a.id, b.id}); }
Term at_least(Term a, Term b) { return a.make(Op::GreaterEqual, {a.id, b.id}); }

// The operands a, b, c of an op and its result y.
struct Place {
  Term a, b, c, y;
  Term number(double value) const { return y.number(value); }
};

using Rule = Term (*)(const Place&);
constexpr Rule kZero = nullptr;  // no derivative anywhere, or no such operand

constexpr Rule kOne = [](const Place& p) { return p.number(1); };

struct DerivativeRow {
  Op op;
  std::array<Rule, 3> partials;
};

Term silu_partial(const Place& p) {
  const Term s = p.a.of(Op::Sigmoid);  // with y = a s: (a s)' = s + y (1 - s)
  return s + p.y * (1.0 - s);
}

// (x Phi(x))' = Phi(x) + x phi(x), Phi and phi of the standard normal distribution (Hendrycks & Gimpel 2016).
Term gelu_partial(const Place& p) {
  const double sqrt_half = 1 / std::numbers::sqrt2;
  const Term cumulative = 0.5 * (1.0 + (sqrt_half * p.a).of(Op::Erf));
  const Term density = (sqrt_half * std::numbers::inv_sqrtpi) * (-0.5 * p.a.of(Op::Square)).of(Op::Exp);
  return cumulative + p.a * density;
}

// 0 where the exponent is, and not 0 times infinity.
Term pow_base_partial(const Place& p) {
  const Term slope = p.b * p.a.make(Op::Pow, {p.a.id, (p.b - p.number(1)).id});
  const Term none = p.a.make(Op::Equal, {p.b.id, p.number(0).id});
  return none.make(Op::Select, {none.id, p.number(0).id, slope.id});
}

Term pow_exponent_partial(const Place& p) {
  const Term positive = p.a.make(Op::Greater, {p.a.id, p.number(0).id});
  return positive.make(Op::Select, {positive.id, (p.y * p.a.of(Op::Log)).id, p.number(0).id});
}

// d atan2(y, x) = (x dy - y dx) / (x^2 + y^2), taken to be 0 at the origin.
Term angle_partial(const Place& p, Term other) {
  const Term square = p.a.of(Op::Square) + p.b.of(Op::Square);
  const Term somewhere = square.make(Op::Greater, {square.id, square.number(0).id});
  return somewhere.make(Op::Select, {somewhere.id, (other / square).id, square.number(0).id});
}

// clang-format off
constexpr std::array<DerivativeRow, scalar::kOpCount> kTable{{
    {Op::Add, {kOne, kOne}},
    {Op::Sub, {kOne, [](const Place& p) { return p.number(-1); }}},
    {Op::Mul, {[](const Place& p) { return p.b; }, [](const Place& p) { return p.a; }}},
    {Op::Div, {[](const Place& p) { return p.b.of(Op::Recip); }, [](const Place& p) { return -(p.y / p.b); }}},
    {Op::Neg, {[](const Place& p) { return p.number(-1); }}},
    {Op::Fma, {[](const Place& p) { return p.b; }, [](const Place& p) { return p.a; }, kOne}},
    {Op::Min, {[](const Place& p) { return choose(at_most(p.a, p.b), 1, 0); }, [](const Place& p) { return choose(at_most(p.a, p.b), 0, 1); }}},
    {Op::Max, {[](const Place& p) { return choose(at_least(p.a, p.b), 1, 0); }, [](const Place& p) { return choose(at_least(p.a, p.b), 0, 1); }}},
    {Op::Abs, {[](const Place& p) { return p.a.of(Op::Sign); }}},
    {Op::Sign, {kZero}},
    {Op::Exp, {[](const Place& p) { return p.y; }}},
    {Op::Expm1, {[](const Place& p) { return 1.0 + p.y; }}},
    {Op::Log, {[](const Place& p) { return p.a.of(Op::Recip); }}},
    {Op::Log1p, {[](const Place& p) { return (1.0 + p.a).of(Op::Recip); }}},
    {Op::Sqrt, {[](const Place& p) { return 0.5 / p.y; }}},
    {Op::Rsqrt, {[](const Place& p) { return -0.5 * (p.y.of(Op::Square) * p.y); }}},
    {Op::Square, {[](const Place& p) { return 2.0 * p.a; }}},
    {Op::Recip, {[](const Place& p) { return -p.y.of(Op::Square); }}},
    {Op::Sigmoid, {[](const Place& p) { return p.y * (1.0 - p.y); }}},
    {Op::Tanh, {[](const Place& p) { return 1.0 - p.y.of(Op::Square); }}},
    {Op::Relu, {[](const Place& p) { return choose(p.a.make(Op::Greater, {p.a.id, p.number(0).id}), 1, 0); }}},
    {Op::Silu, {silu_partial}},
    {Op::Gelu, {gelu_partial}},
    {Op::Softplus, {[](const Place& p) { return p.a.of(Op::Sigmoid); }}},
    {Op::Erf, {[](const Place& p) { return (2 * std::numbers::inv_sqrtpi) * (-p.a.of(Op::Square)).of(Op::Exp); }}},
    {Op::Sin, {[](const Place& p) { return p.a.of(Op::Cos); }}},
    {Op::Cos, {[](const Place& p) { return -p.a.of(Op::Sin); }}},
    {Op::Less, {kZero}}, {Op::LessEqual, {kZero}}, {Op::Greater, {kZero}}, {Op::GreaterEqual, {kZero}},
    {Op::Equal, {kZero}}, {Op::NotEqual, {kZero}}, {Op::And, {kZero}}, {Op::Or, {kZero}}, {Op::Not, {kZero}},
    {Op::Select, {kZero, [](const Place& p) { return choose(p.a, 1, 0); }, [](const Place& p) { return choose(p.a, 0, 1); }}},
    {Op::Round, {kZero}}, {Op::Floor, {kZero}},
    {Op::Exp2, {[](const Place& p) { return std::numbers::ln2 * p.y; }}},
    {Op::Pow, {pow_base_partial, pow_exponent_partial}},
    {Op::Atan2, {[](const Place& p) { return angle_partial(p, p.b); }, [](const Place& p) { return angle_partial(p, -p.a); }}},
    {Op::WithGradient, {kZero, kOne}},
}};
// clang-format on

static_assert(scalar::has_each_op_in_order(kTable), "rows are in the order of Op");

Rule rule(Op op, int operand) {
  return kTable[static_cast<std::size_t>(op)].partials[static_cast<std::size_t>(operand)];
}

}  // namespace

bool differentiable(Op op, int operand) { return rule(op, operand) != kZero; }

NodeId partial(Graph& graph, NodeId result, int operand) {
  const Node& node = graph.at(result);
  const Rule found = rule(node.op, operand);
  if (found == kZero) return kNoNode;
  Place place;
  place.y = {&graph, result};
  const std::array<Term*, 3> terms{&place.a, &place.b, &place.c};
  for (std::size_t i = 0; i < node.operands.size(); ++i) *terms[i] = {&graph, node.operands[i]};
  return found(place).id;
}

}  // namespace rondo::step
