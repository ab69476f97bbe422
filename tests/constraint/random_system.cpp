#include "tests/constraint/random_system.h"

#include <fmt/format.h>

#include <array>

namespace rondo::constraint::test {

namespace {

using Maybe = std::optional<Value>;
__extension__ typedef __int128 Exact;

Maybe fit(Exact value) {
  if (value > Exact{INT64_MAX} || value < Exact{INT64_MIN}) return std::nullopt;
  return static_cast<Value>(value);
}

// Slow and obvious: the quotient by truncation, then one step down or up until the definition holds.
Exact floor_quotient(Exact a, Exact b) {
  Exact q = a / b;
  if (q * b != a && ((a < 0) != (b < 0))) --q;
  return q;
}

Maybe binary(const std::string& kind, Exact a, Exact b) {
  if (kind == "+") return fit(a + b);
  if (kind == "-") return fit(a - b);
  if (kind == "*") return fit(a * b);
  if (kind == "min") return fit(a < b ? a : b);
  if (kind == "max") return fit(a > b ? a : b);
  if (kind == "==") return a == b;
  if (kind == "!=") return a != b;
  if (kind == "<") return a < b;
  if (kind == "<=") return a <= b;
  if (kind == ">") return a > b;
  if (kind == ">=") return a >= b;
  if (kind == "divides") return a == 0 ? Maybe() : Maybe(b % a == 0);
  if (b == 0) return std::nullopt;
  if (kind == "floor_div") return fit(floor_quotient(a, b));
  if (kind == "ceil_div") return fit(-floor_quotient(-a, b));
  return fit(a - b * floor_quotient(a, b));  // mod
}

}  // namespace

Maybe oracle(const Formula& formula, const std::vector<Value>& point) {
  const std::string& kind = formula.kind;
  if (kind == "const") return formula.number;
  if (kind == "var") return point[static_cast<std::size_t>(formula.number)];
  const Maybe a = oracle(formula.parts[0], point);
  if (kind == "not") return a ? Maybe(1 - *a) : Maybe();
  const Maybe b = oracle(formula.parts[1], point);
  if (kind == "and") return a == 0 || b == 0 ? Maybe(0) : a && b ? Maybe(1) : Maybe();
  if (kind == "or") return a == 1 || b == 1 ? Maybe(1) : a && b ? Maybe(0) : Maybe();
  if (kind == "implies") return a == 0 || b == 1 ? Maybe(1) : a && b ? Maybe(0) : Maybe();
  if (kind == "when") return !a ? Maybe() : *a == 1 ? b : oracle(formula.parts[2], point);
  return a && b ? binary(kind, *a, *b) : Maybe();
}

Expr to_expr(const Formula& f, const std::vector<Var>& variables) {
  if (f.kind == "const") return f.number;
  if (f.kind == "var") return variables[static_cast<std::size_t>(f.number)];
  if (f.kind == "when") {
    return when(to_condition(f.parts[0], variables), to_expr(f.parts[1], variables),
                to_expr(f.parts[2], variables));
  }
  const Expr a = to_expr(f.parts[0], variables), b = to_expr(f.parts[1], variables);
  if (f.kind == "+") return a + b;
  if (f.kind == "-") return a - b;
  if (f.kind == "*") return a * b;
  if (f.kind == "min") return min(a, b);
  if (f.kind == "max") return max(a, b);
  if (f.kind == "floor_div") return floor_div(a, b);
  if (f.kind == "ceil_div") return ceil_div(a, b);
  return mod(a, b);
}

Condition to_condition(const Formula& f, const std::vector<Var>& variables) {
  if (f.kind == "not") return !to_condition(f.parts[0], variables);
  if (f.kind == "and" || f.kind == "or" || f.kind == "implies") {
    const Condition a = to_condition(f.parts[0], variables), b = to_condition(f.parts[1], variables);
    return f.kind == "and" ? a && b : f.kind == "or" ? a || b : implies(a, b);
  }
  const Expr a = to_expr(f.parts[0], variables), b = to_expr(f.parts[1], variables);
  if (f.kind == "==") return a == b;
  if (f.kind == "!=") return a != b;
  if (f.kind == "<") return a < b;
  if (f.kind == "<=") return a <= b;
  if (f.kind == ">") return a > b;
  if (f.kind == ">=") return a >= b;
  return divides(a, b);
}

std::vector<std::vector<Value>> RandomSystem::brute_force() const {
  std::vector<std::vector<Value>> found;
  const std::vector<Domain>& domains = system.domains();
  std::vector<std::size_t> index(domains.size(), 0);
  while (true) {
    std::vector<Value> point;
    for (std::size_t v = 0; v < index.size(); ++v) point.push_back(domains[v].values()[index[v]]);
    bool holds = true;
    for (const Formula& rule : rules) holds = holds && oracle(rule, point) == 1;
    if (holds) found.push_back(point);
    std::size_t v = index.size();
    while (v > 0 && ++index[v - 1] == domains[v - 1].values().size()) index[--v] = 0;
    if (v == 0) return found;
  }
}

namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed), seed_(seed) {}

  RandomSystem run() {
    RandomSystem made;
    const bool large = seed_ % 8 == 0;
    extreme_ = seed_ % 5 == 0;
    count_ = large ? 2 : pick(2, 4);
    std::vector<Var> variables;
    for (Value v = 0; v < count_; ++v) {
      variables.push_back(
          made.system.var(fmt::format("v{}", v), large ? large_domain() : small_domain(), ""));
    }
    for (Value rule = pick(1, 4); rule > 0; --rule) {
      made.rules.push_back(condition(2));
      made.system.require(to_condition(made.rules.back(), variables), fmt::format("rule {}", rule));
    }
    return made;
  }

 private:
  Value pick(Value least, Value most) {
    return least + static_cast<Value>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }

  Value number() {
    if (extreme_ && pick(0, 4) == 0) {
      const std::array<Value, 6> ends{INT64_MAX,     INT64_MIN,      INT64_MAX - 1,
                                      INT64_MIN + 1, Value{1} << 32, -(Value{1} << 40)};
      return ends[static_cast<std::size_t>(pick(0, 5))];
    }
    return pick(0, 2) == 0 ? pick(-60, 60) : pick(-4, 12);
  }

  Domain small_domain() {
    if (pick(0, 3) == 0) return powers_of_two(1, Value{1} << pick(0, 5));
    std::vector<Value> list;
    for (Value size = pick(1, 6); size > 0; --size) list.push_back(number());
    return values(list);
  }

  Domain large_domain() {
    const Value first = pick(-40, 4);
    return range(first, first + pick(10, 89), pick(1, 3));
  }

  std::string one_of_kinds(const std::vector<std::string>& kinds) {
    return kinds[static_cast<std::size_t>(pick(0, static_cast<Value>(kinds.size()) - 1))];
  }

  Formula integer(int depth) {
    if (depth == 0 || pick(0, 4) == 0) {
      if (pick(0, 2) == 0) return {"const", number(), {}};
      return {"var", pick(0, count_ - 1), {}};
    }
    const std::string kind =
        one_of_kinds({"+", "-", "*", "*", "min", "max", "floor_div", "ceil_div", "mod", "when"});
    if (kind == "when") return {kind, 0, {condition(depth - 1), integer(depth - 1), integer(depth - 1)}};
    return {kind, 0, {integer(depth - 1), integer(depth - 1)}};
  }

  Formula condition(int depth) {
    if (depth > 0 && pick(0, 3) == 0) {
      const std::string kind = one_of_kinds({"and", "or", "not", "implies"});
      if (kind == "not") return {kind, 0, {condition(depth - 1)}};
      return {kind, 0, {condition(depth - 1), condition(depth - 1)}};
    }
    const std::string kind = one_of_kinds({"==", "==", "!=", "<", "<=", ">", ">=", "divides"});
    return {kind, 0, {integer(depth + 1), integer(depth)}};
  }

  std::mt19937_64 random_;
  std::uint64_t seed_;
  bool extreme_ = false;
  Value count_ = 0;
};

}  // namespace

RandomSystem random_system(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace rondo::constraint::test
