#include "compiler/constraint/expression.h"

#include <fmt/format.h>

#include <algorithm>

namespace rondo::constraint {

namespace {

NodePtr make(Op op, std::vector<NodePtr> children) {
  auto node = std::make_shared<Node>();
  node->op = op;
  node->children = std::move(children);
  return node;
}

Expr integer(Op op, const Expr& a, const Expr& b) { return Expr(make(op, {a.node(), b.node()})); }
Condition compare(Op op, const Expr& a, const Expr& b) { return Condition(make(op, {a.node(), b.node()})); }
Condition join(Op op, const Condition& a, const Condition& b) {
  return Condition(make(op, {a.node(), b.node()}));
}

}  // namespace

NodePtr Expr::constant_node(Value constant) {
  auto node = std::make_shared<Node>();
  node->constant = constant;
  return node;
}

Var::Var(std::size_t index, const std::string& name)
    : Expr([&] {
        auto node = std::make_shared<Node>();
        node->op = Op::Variable;
        node->variable = index;
        node->name = name;
        return NodePtr(std::move(node));
      }()) {}

Expr operator+(const Expr& a, const Expr& b) { return integer(Op::Add, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return integer(Op::Sub, a, b); }
Expr operator-(const Expr& a) { return integer(Op::Sub, 0, a); }
Expr operator*(const Expr& a, const Expr& b) { return integer(Op::Mul, a, b); }
Expr floor_div(const Expr& a, const Expr& b) { return integer(Op::FloorDiv, a, b); }
Expr ceil_div(const Expr& a, const Expr& b) { return integer(Op::CeilDiv, a, b); }
Expr mod(const Expr& a, const Expr& b) { return integer(Op::Mod, a, b); }
Expr min(const Expr& a, const Expr& b) { return integer(Op::Min, a, b); }
Expr max(const Expr& a, const Expr& b) { return integer(Op::Max, a, b); }
Expr when(const Condition& condition, const Expr& yes, const Expr& no) {
  return Expr(make(Op::When, {condition.node(), yes.node(), no.node()}));
}

Condition operator==(const Expr& a, const Expr& b) { return compare(Op::Eq, a, b); }
Condition operator!=(const Expr& a, const Expr& b) { return compare(Op::Ne, a, b); }
Condition operator<(const Expr& a, const Expr& b) { return compare(Op::Lt, a, b); }
Condition operator<=(const Expr& a, const Expr& b) { return compare(Op::Le, a, b); }
Condition operator>(const Expr& a, const Expr& b) { return compare(Op::Gt, a, b); }
Condition operator>=(const Expr& a, const Expr& b) { return compare(Op::Ge, a, b); }
Condition divides(const Expr& divisor, const Expr& number) { return compare(Op::Divides, divisor, number); }
Condition operator&&(const Condition& a, const Condition& b) { return join(Op::And, a, b); }
Condition operator||(const Condition& a, const Condition& b) { return join(Op::Or, a, b); }
Condition operator!(const Condition& a) { return Condition(make(Op::Not, {a.node()})); }
Condition implies(const Condition& a, const Condition& b) { return join(Op::Implies, a, b); }
Condition one_of(const Expr& a, std::span<const Value> values) {
  if (values.empty()) throw std::logic_error("one_of without values");
  Condition any = a == values[0];
  for (const Value value : values.subspan(1)) any = any || a == value;
  return any;
}

namespace {

using Maybe = std::optional<Value>;

Maybe integer_value(Op op, Value a, Value b) {
  switch (op) {
    case Op::Add: return narrow(Wide{a} + b);
    case Op::Sub: return narrow(Wide{a} - b);
    case Op::Mul: return narrow(Wide{a} * b);
    case Op::FloorDiv: return b == 0 ? std::nullopt : narrow(floor_div_wide(a, b));
    case Op::CeilDiv: return b == 0 ? std::nullopt : narrow(ceil_div_wide(a, b));
    case Op::Mod: return b == 0 ? std::nullopt : Maybe(mod_value(a, b));
    case Op::Min: return std::min(a, b);
    case Op::Max: return std::max(a, b);
    case Op::Eq: return a == b;
    case Op::Ne: return a != b;
    case Op::Lt: return a < b;
    case Op::Le: return a <= b;
    case Op::Gt: return a > b;
    case Op::Ge: return a >= b;
    case Op::Divides: return a == 0 ? std::nullopt : Maybe(mod_value(b, a) == 0);
    default: throw std::logic_error("constraint operator without two integers");
  }
}

// The value that decides the connective on its own, or else needs both sides to be known.
Maybe connective(Value deciding, Maybe a, Maybe b) {
  if (a == deciding || b == deciding) return deciding;
  if (!a || !b) return std::nullopt;
  return 1 - deciding;
}

Maybe negated(Maybe a) { return a ? Maybe(1 - *a) : std::nullopt; }

}  // namespace

Maybe evaluate(const Node& node, std::span<const Value> values) {
  const auto child = [&](std::size_t i) { return evaluate(*node.children[i], values); };
  switch (node.op) {
    case Op::Constant: return node.constant;
    case Op::Variable: return values[node.variable];
    case Op::Named: return child(0);
    case Op::When: {
      const Maybe condition = child(0);
      return condition ? child(*condition != 0 ? 1 : 2) : std::nullopt;
    }
    case Op::And: return connective(0, child(0), child(1));
    case Op::Or: return connective(1, child(0), child(1));
    case Op::Implies: return connective(1, negated(child(0)), child(1));
    case Op::Not: return negated(child(0));
    default: break;
  }
  const Maybe a = child(0);
  const Maybe b = child(1);
  return a && b ? integer_value(node.op, *a, *b) : std::nullopt;
}

namespace {

// How tightly an operator binds in the printed text; 0 for what is written as a call or a name.
int binding(const Node& node) {
  switch (node.op) {
    case Op::Constant: return node.constant < 0 ? 3 : 0;
    case Op::Mul: return 2;
    case Op::Add:
    case Op::Sub: return 3;
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge:
    case Op::Divides: return 4;
    case Op::Not: return 5;
    case Op::And: return 6;
    case Op::Or: return 7;
    case Op::Implies: return 8;
    default: return 0;
  }
}

const char* sign(Op op) {
  switch (op) {
    case Op::Add: return "+";
    case Op::Sub: return "-";
    case Op::Mul: return "*";
    case Op::FloorDiv: return "floor_div";
    case Op::CeilDiv: return "ceil_div";
    case Op::Mod: return "mod";
    case Op::Min: return "min";
    case Op::Max: return "max";
    case Op::When: return "when";
    case Op::Eq: return "==";
    case Op::Ne: return "!=";
    case Op::Lt: return "<";
    case Op::Le: return "<=";
    case Op::Gt: return ">";
    case Op::Ge: return ">=";
    case Op::Divides: return "divides";
    case Op::And: return "and";
    case Op::Or: return "or";
    case Op::Not: return "not";
    case Op::Implies: return "implies";
    default: return "?";
  }
}

std::string infix(const Node& node) {
  const int own = binding(node);
  // a - (b - c) keeps its brackets; a + b + c and a * b * c, which associate, drop them.
  const bool associates = node.op == Op::Add || node.op == Op::Mul || node.op == Op::And || node.op == Op::Or;
  const auto side = [&](const Node& child, bool right) {
    const int inner = binding(child);
    const bool bracket = inner > own || (inner == own && right && !(associates && child.op == node.op)) ||
                         (inner == own && own == 4);
    return bracket ? fmt::format("({})", to_string(child)) : to_string(child);
  };
  return fmt::format("{} {} {}", side(*node.children[0], false), sign(node.op),
                     side(*node.children[1], true));
}

}  // namespace

std::string to_string(const Node& node) {
  switch (node.op) {
    case Op::Constant: return fmt::format("{}", node.constant);
    case Op::Variable:
    case Op::Named: return node.name;
    case Op::Not: {
      const Node& inner = *node.children[0];
      return binding(inner) >= 4 ? fmt::format("not ({})", to_string(inner)) : "not " + to_string(inner);
    }
    case Op::FloorDiv:
    case Op::CeilDiv:
    case Op::Mod:
    case Op::Min:
    case Op::Max:
    case Op::When: {
      std::string arguments;
      for (const NodePtr& child : node.children) {
        arguments += (arguments.empty() ? "" : ", ") + to_string(*child);
      }
      return fmt::format("{}({})", sign(node.op), arguments);
    }
    default: return infix(node);
  }
}

std::string to_string(const Expr& expr) { return to_string(*expr.node()); }
std::string to_string(const Condition& condition) { return to_string(*condition.node()); }

}  // namespace rondo::constraint
