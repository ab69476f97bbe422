#include "compiler/constraint/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/constraint/budget.h"
#include "compiler/constraint/optimise.h"
#include "compiler/constraint/program.h"

namespace rondo::constraint {

namespace {

using Kind = Shortfall::Kind;
using Indices = std::vector<std::size_t>;

Indices without(const Indices& all, std::size_t one) {
  Indices rest;
  std::copy_if(all.begin(), all.end(), std::back_inserter(rest), [&](std::size_t i) { return i != one; });
  return rest;
}

Indices every_constraint(const System& system) {
  Indices all(system.constraints().size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

// One check that turns out hard may not use up what the others need.
constexpr unsigned kShare = 4;

// Deletion filtering: what can go without giving the system a solution goes, first stated first.
Indices conflict_of(const System& system, Budget& budget, bool& minimal) {
  Indices kept = every_constraint(system);
  for (const std::size_t candidate : every_constraint(system)) {
    const Indices rest = without(kept, candidate);
    const First found = budget.first_solution(system.restricted_to(rest), kShare);
    if (cut_short(found.stats)) {
      minimal = false;
    } else if (!found.solution) {
      kept = rest;
    }
  }
  return kept;
}

// A comparison seen so that minimising `distance` brings it as close to holding as possible.
struct Goal {
  Kind kind;
  Expr quantity, limit;
  Expr distance;
};

bool is_constant(const NodePtr& node) { return node->op == Op::Constant; }

Op mirrored(Op op) {
  switch (op) {
    case Op::Lt: return Op::Gt;
    case Op::Le: return Op::Ge;
    case Op::Gt: return Op::Lt;
    case Op::Ge: return Op::Le;
    default: return op;
  }
}

std::optional<Goal> goal_of(const Node& rule) {
  Op op = rule.op;
  if (op != Op::Lt && op != Op::Le && op != Op::Gt && op != Op::Ge && op != Op::Eq) return std::nullopt;
  NodePtr left = rule.children[0], right = rule.children[1];
  if (is_constant(left) && !is_constant(right)) {
    std::swap(left, right);
    op = mirrored(op);
  }
  const Expr a(left), b(right);
  // Against a constant the side itself is the goal: no difference that could overflow.
  const bool fixed_limit = is_constant(right);
  if (op == Op::Lt || op == Op::Le) return Goal{Kind::TooLarge, a, b, fixed_limit ? a : a - b};
  if (op == Op::Gt || op == Op::Ge) return Goal{Kind::TooSmall, a, b, fixed_limit ? -a : b - a};
  return Goal{Kind::Unequal, a, b, max(a - b, b - a)};
}

std::vector<std::pair<std::string, Value>> relevant(const System& system, const Condition& rule,
                                                    const Assignment& at) {
  std::vector<std::pair<std::string, Value>> list;
  for (const std::uint32_t v : compile(*rule.node()).variables) {
    list.emplace_back(system.names().variables[v].name, at.values()[v]);
  }
  return list;
}

// The point closest to holding, under all other rules if they leave one, else under the rest of the conflict.
struct Closest {
  Assignment at;
  bool under_all_rules;
};

std::optional<Closest> closest(const System& system, const Indices& conflict, std::size_t member,
                               const std::optional<Goal>& goal, Budget& budget) {
  for (const bool under_all : {true, false}) {
    const Indices others = without(under_all ? every_constraint(system) : conflict, member);
    const System rest = system.restricted_to(others);
    if (goal) {
      const Result<std::optional<Least>> found = least(rest, goal->distance, budget);
      if (found && *found) return Closest{(*found)->at, under_all};
      continue;
    }
    const First found = budget.first_solution(rest, kShare);
    if (found.solution) return Closest{*found.solution, under_all};
  }
  return std::nullopt;
}

std::string numbers(const Shortfall& shortfall, const Node& rule) {
  const Value attained = *shortfall.attained, limit = *shortfall.limit;
  const std::string& quantity = shortfall.quantity;
  const bool strict = rule.op == Op::Lt || rule.op == Op::Gt;
  switch (shortfall.kind) {
    case Kind::TooLarge:
      return fmt::format("{} needs at least {}, but {} {}", quantity, attained,
                         strict ? "must stay below" : "the limit is", limit);
    case Kind::TooSmall:
      return fmt::format("{} reaches at most {}, but {} {}", quantity, attained,
                         strict ? "must exceed" : "needs at least", limit);
    default: return fmt::format("{} comes no closer than {}, but must equal {}", quantity, attained, limit);
  }
}

std::string where(const Shortfall& shortfall) {
  std::string text;
  for (const auto& [name, value] : shortfall.at) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

ConflictMember describe(const System& system, const Indices& conflict, std::size_t index, Budget& budget) {
  const Constraint& constraint = system.constraints()[index];
  const Node& rule = *constraint.condition.node();
  ConflictMember member{index, constraint.label, to_string(constraint.condition), {}, {}};
  std::optional<Goal> goal = goal_of(rule);
  std::optional<Closest> found = closest(system, conflict, index, goal, budget);
  if (!found && goal) {
    // The distance may have no value anywhere (overflow); any point of the others still shows the failure.
    goal.reset();
    found = closest(system, conflict, index, goal, budget);
  }
  if (!found) {
    member.text = fmt::format("{}: {}", member.label, member.rule);
    return member;
  }
  Shortfall shortfall;
  shortfall.at = relevant(system, constraint.condition, found->at);
  shortfall.under_all_rules = found->under_all_rules;
  std::string told = fmt::format("{} does not hold", member.rule);
  if (goal) {
    shortfall.kind = goal->kind;
    shortfall.quantity = to_string(goal->quantity);
    shortfall.attained = found->at.value(goal->quantity);
    shortfall.limit = found->at.value(goal->limit);
    told = numbers(shortfall, rule);
  }
  if (constraint.shortage) told = constraint.shortage(found->at);
  const std::string place = where(shortfall);
  member.text = fmt::format("{}: {}{}", member.label, told, place.empty() ? "" : fmt::format(" ({})", place));
  member.shortfall = std::move(shortfall);
  return member;
}

void collect_names(const Node& node, std::set<std::string>& names) {
  if (node.op == Op::Variable || node.op == Op::Named) names.insert(node.name);
  for (const NodePtr& child : node.children) collect_names(*child, names);
}

// What the names in the text mean, with the values there are to choose from.
std::string legend(const System& system, const Explanation& explanation) {
  std::set<std::string> used(explanation.empty_variables.begin(), explanation.empty_variables.end());
  for (const ConflictMember& member : explanation.conflict) {
    collect_names(*system.constraints()[member.constraint].condition.node(), used);
  }
  std::string text;
  for (std::size_t i = 0; i < system.domains().size(); ++i) {
    const Names::Quantity& variable = system.names().variables[i];
    if (used.count(variable.name) == 0) continue;
    text +=
        fmt::format("\n  {}: {} ({})", variable.name, variable.description, system.domains()[i].to_string());
  }
  for (const Names::Quantity& quantity : system.names().definitions) {
    if (used.count(quantity.name) == 0) continue;
    text += fmt::format("\n  {}: {}, {}", quantity.name, quantity.description,
                        to_string(*quantity.value.node()->children[0]));
  }
  return text.empty() ? text : "\nwhere" + text;
}

std::string render(const System& system, const Explanation& explanation) {
  std::string text;
  for (const std::string& variable : explanation.empty_variables) {
    text += fmt::format("{}'{}' has no value to choose from.", text.empty() ? "" : "\n", variable);
  }
  const std::size_t rules = explanation.conflict.size();
  if (rules == 1) text = "No choice satisfies this rule:";
  if (rules > 1) {
    text = fmt::format(
        "No choice satisfies these {} rules together; each line says how close the others let it come:",
        rules);
  }
  for (const ConflictMember& member : explanation.conflict) text += "\n  " + member.text;
  if (!explanation.minimal) text += "\n(A search limit was reached: fewer rules may already conflict.)";
  return text + legend(system, explanation);
}

}  // namespace

Result<Explanation> explain(const System& system, const Limits& limits) {
  Budget budget(limits);
  Explanation explanation;
  for (std::size_t i = 0; i < system.domains().size(); ++i) {
    if (system.domains()[i].values().empty()) {
      explanation.empty_variables.push_back(system.names().variables[i].name);
    }
  }
  if (explanation.empty_variables.empty()) {
    const First whole = budget.first_solution(system);
    if (cut_short(whole.stats)) {
      return Error{ErrorKind::Cancelled,
                   "the search ended at its limit before the space was known to be empty", "raise the limit"};
    }
    if (whole.solution) {
      return Error{ErrorKind::Internal,
                   fmt::format("nothing to explain: {} satisfies every rule", whole.solution->to_string()),
                   ""};
    }
    const Indices conflict = conflict_of(system, budget, explanation.minimal);
    for (const std::size_t index : conflict) {
      explanation.conflict.push_back(describe(system, conflict, index, budget));
    }
  }
  explanation.text = render(system, explanation);
  return explanation;
}

}  // namespace rondo::constraint
