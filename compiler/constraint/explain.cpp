#include "compiler/constraint/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/constraint/budget.h"
#include "compiler/constraint/program.h"

namespace rondo::constraint {

namespace {

using Kind = Shortfall::Kind;
using Indices = std::vector<std::size_t>;

Indices without(const Indices& all, std::size_t one) {
  Indices rest;
  std::ranges::copy_if(all, std::back_inserter(rest), [&](std::size_t i) { return i != one; });
  return rest;
}

Indices every_constraint(const System& system) {
  Indices all(system.constraints().size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

// One check that turns out hard may not use up what the others need.
constexpr unsigned kShare = 4;

// Deletion filtering: of the candidates, what can go without giving the system a solution goes, first stated
// first. Rules that did not matter to the last search without a solution can go without another. `core`:
// those that mattered to the search of the whole system. Returns what is left of the system.
Indices filtered(const System& system, Indices kept, const Indices& candidates, Indices core, Budget& budget,
                 bool& minimal) {
  for (const std::size_t candidate : candidates) {
    const Indices rest = without(kept, candidate);
    if (!std::binary_search(core.begin(), core.end(), candidate)) {
      kept = rest;
      continue;
    }
    const First found = budget.first_solution(system.restricted_to(rest), kShare);
    if (cut_short(found.stats)) {
      minimal = false;
    } else if (!found.solution) {
      kept = rest;
      core.clear();
      for (const std::size_t index : found.stats.mattered) core.push_back(rest[index]);
    }
  }
  return kept;
}

// What cannot hold together, and the rules that stand beside it.
struct Conflict {
  Indices members, all;
};

Conflict conflict_of(const System& system, const Indices& core, Blame blame, Budget& budget, bool& minimal) {
  const Indices all = every_constraint(system);
  const auto limit = [&](std::size_t i) { return is_limit(system.constraints()[i]); };
  if (blame == Blame::Limits) {
    Indices limits;
    std::ranges::copy_if(all, std::back_inserter(limits), limit);
    Conflict found{{}, filtered(system, all, limits, core, budget, minimal)};
    std::ranges::copy_if(found.all, std::back_inserter(found.members), limit);
    if (!found.members.empty()) return found;
  }
  const Indices members = filtered(system, all, all, core, budget, minimal);
  return {members, members};
}

// A comparison seen so that minimising `distance` brings it as close to holding as possible.
struct Goal {
  Kind kind;
  Expr quantity, limit;
  Expr distance;
  std::optional<Condition> where;
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

std::optional<Goal> goal_of(const Node& whole) {
  const Node& rule = whole.op == Op::Implies ? *whole.children[1] : whole;
  Op op = rule.op;
  if (op != Op::Lt && op != Op::Le && op != Op::Gt && op != Op::Ge && op != Op::Eq) return std::nullopt;
  NodePtr left = rule.children[0], right = rule.children[1];
  if (is_constant(left) && !is_constant(right)) {
    std::swap(left, right);
    op = mirrored(op);
  }
  const Expr a(left), b(right);
  std::optional<Condition> where;  // the rule asks for nothing elsewhere
  if (whole.op == Op::Implies) where = Condition(whole.children[0]);
  // Against a constant the side itself is the goal: no difference that could overflow.
  const bool fixed_limit = is_constant(right);
  if (op == Op::Lt || op == Op::Le)
    return Goal{Kind::TooLarge, a, op == Op::Lt ? b - 1 : b, fixed_limit ? a : a - b, where};
  if (op == Op::Gt || op == Op::Ge)
    return Goal{Kind::TooSmall, a, op == Op::Gt ? b + 1 : b, fixed_limit ? -a : b - a, where};
  return Goal{Kind::Unequal, a, b, max(a - b, b - a), where};
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

std::optional<Closest> closest(const System& system, const Conflict& conflict, std::size_t member,
                               const std::optional<Goal>& goal, Budget& budget) {
  for (const bool under_all : {true, false}) {
    System rest = system.restricted_to(without(under_all ? every_constraint(system) : conflict.all, member));
    if (!goal) {
      const First found = budget.first_solution(rest, kShare);
      if (found.solution) return Closest{*found.solution, under_all};
      continue;
    }
    if (goal->where) rest.require(*goal->where, "where the rule asks for something");
    const First found = budget.least_solution(rest, goal->distance, kShare);
    if (found.solution && !cut_short(found.stats)) return Closest{*found.solution, under_all};
  }
  return std::nullopt;
}

// What the rule is about, where its label does not say it.
std::string unit(const System& system, const Node& quantity, const std::string& label) {
  const auto named = [&](const Names::Quantity& known) { return known.name == quantity.name; };
  if (quantity.name.empty()) return "";
  for (const auto* list : {&system.names().variables, &system.names().definitions})
    if (const auto known = std::ranges::find_if(*list, named); known != list->end())
      return known->description == label ? "" : " " + known->description;
  return "";
}

std::string numbers(const Shortfall& shortfall, const std::string& of) {
  switch (shortfall.kind) {
    case Kind::TooLarge:
      return fmt::format("at least {}{}, the limit is {}", *shortfall.attained, of, *shortfall.limit);
    case Kind::TooSmall:
      return fmt::format("at most {}{}, {} needed", *shortfall.attained, of, *shortfall.limit);
    default: return fmt::format("no closer than {}{} to {}", *shortfall.attained, of, *shortfall.limit);
  }
}

std::string where(const Shortfall& shortfall) {
  std::string text;
  for (const auto& [name, value] : shortfall.at)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text;
}

ConflictMember describe(const System& system, const Conflict& conflict, std::size_t index, Budget& budget) {
  const Constraint& constraint = system.constraints()[index];
  ConflictMember member{index, constraint.label, to_string(constraint.condition), {}, constraint.label, ""};
  std::optional<Goal> goal = goal_of(*constraint.condition.node());
  std::optional<Closest> found = closest(system, conflict, index, goal, budget);
  if (!found && goal) {
    // The distance may have no value anywhere (overflow); any point of the others still shows the failure.
    goal.reset();
    found = closest(system, conflict, index, goal, budget);
  }
  if (!found) return member;
  Shortfall shortfall;
  shortfall.at = relevant(system, constraint.condition, found->at);
  shortfall.under_all_rules = found->under_all_rules;
  std::string told;
  if (goal) {
    shortfall.kind = goal->kind;
    shortfall.quantity = to_string(goal->quantity);
    shortfall.attained = found->at.value(goal->quantity);
    shortfall.limit = found->at.value(goal->limit);
    told = numbers(shortfall, unit(system, *goal->quantity.node(), member.label));
  }
  if (constraint.shortage) told = constraint.shortage(found->at);
  if (!told.empty()) member.text += ": " + told;
  member.place = where(shortfall);
  member.shortfall = std::move(shortfall);
  return member;
}

// How far off, beside the limit; what is not known is further than anything.
double miss(const ConflictMember& member) {
  if (!member.shortfall || !member.shortfall->attained) return std::numeric_limits<double>::infinity();
  const auto attained = static_cast<double>(*member.shortfall->attained);
  const auto limit = static_cast<double>(*member.shortfall->limit);
  return std::abs(attained - limit) / std::max(1.0, std::abs(limit));
}

std::string render(const Explanation& explanation) {
  std::string text;
  for (const std::string& variable : explanation.empty_variables)
    text += fmt::format("{}'{}' has no value to choose from", text.empty() ? "" : "; ", variable);
  for (const ConflictMember& member : one_a_label(explanation.conflict))
    text += (text.empty() ? "" : "; ") + member.text;
  if (!explanation.minimal) text += " (the search for a shorter reason reached its limit)";
  return text;
}

}  // namespace

bool is_limit(const Constraint& constraint) {
  const Node& whole = *constraint.condition.node();
  const Node& rule = whole.op == Op::Implies ? *whole.children[1] : whole;
  return (rule.op == Op::Le && is_constant(rule.children[1])) ||
         (rule.op == Op::Ge && is_constant(rule.children[0]));
}

std::vector<ConflictMember> one_a_label(const std::vector<ConflictMember>& members) {
  std::vector<ConflictMember> result;
  for (const ConflictMember& member : members) {
    const auto same =
        std::ranges::find_if(result, [&](const ConflictMember& told) { return told.label == member.label; });
    if (same == result.end())
      result.push_back(member);
    else if (miss(member) < miss(*same))
      *same = member;
  }
  return result;
}

Result<Explanation> explain(const System& system, Blame blame, const Limits& limits) {
  Budget budget(limits);
  Explanation explanation;
  for (std::size_t i = 0; i < system.domains().size(); ++i)
    if (system.domains()[i].values().empty())
      explanation.empty_variables.push_back(system.names().variables[i].name);
  if (explanation.empty_variables.empty()) {
    const First whole = budget.first_solution(system);
    if (cut_short(whole.stats)) {
      return Error{ErrorKind::Cancelled,
                   "the search ended at its limit before the space was known to be empty", "raise the limit"};
    }
    if (whole.solution) {
      return Error{ErrorKind::Internal,
                   fmt::format("nothing to explain: {} satisfies every rule", whole.solution->to_string())};
    }
    const Conflict conflict = conflict_of(system, whole.stats.mattered, blame, budget, explanation.minimal);
    for (const std::size_t index : conflict.members)
      explanation.conflict.push_back(describe(system, conflict, index, budget));
  }
  explanation.text = render(explanation);
  return explanation;
}

}  // namespace rondo::constraint
