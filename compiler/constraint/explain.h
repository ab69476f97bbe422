// Says in the user's terms why a system has no solution.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/constraint/solver.h"

namespace rondo::constraint {

// How far one rule of a conflict is from holding while the others do.
struct Shortfall {
  enum class Kind {
    TooLarge,  // the left side comes no lower than `attained`, `limit` is allowed
    TooSmall,  // the left side reaches no more than `attained`, `limit` is required
    Unequal,   // the left side comes no closer than `attained` to `limit`, which it must equal (or must not)
    Other,     // no single number: `at` is a point where the other rules hold and this one does not
  };
  Kind kind = Kind::Other;
  std::string quantity;                           // the left side: "smem_bytes"
  std::optional<Value> attained, limit;           // both sides at `at`; none for Other
  std::vector<std::pair<std::string, Value>> at;  // the variables the rule depends on, where it comes closest
  bool under_all_rules = false;  // `at` respects every other rule of the system, not only those
                                 // of the conflict
};

struct ConflictMember {
  std::size_t constraint = 0;          // index in the system
  std::string label;                   // "shared memory"
  std::string rule;                    // "smem_bytes <= 232448"
  std::optional<Shortfall> shortfall;  // none if a limit was reached before it was known
  std::string text;   // "shared memory: at least 320000 bytes of shared memory, the limit is 232448"
  std::string place;  // where that is: "channels = 128, stages = 5"
};

struct Explanation {
  std::vector<ConflictMember> conflict;      // in the order of the system; empty if a domain is empty
  std::vector<std::string> empty_variables;  // variables without any value to choose from
  bool minimal = true;                       // removing any one member leaves a solution; false at a limit
  std::string text;                          // one line for the user, without formulas
};

// Whether the constraint, or what it implies, keeps a quantity to a constant: a resource of the machine,
// rather than a rule among choices.
bool is_limit(const Constraint& constraint);

enum class Blame {
  AnyRule,
  Limits,  // other rules stand, and are not named, unless they contradict each other
};

// Of members with one label the one that is missed by the least: the limits of several cases are told as one.
std::vector<ConflictMember> one_a_label(const std::vector<ConflictMember>& members);

// Enough for most spaces of the strategies, and a few hundredths of a second.
inline constexpr Limits kExplainLimits{.work = 20'000'000};

// Finds a set of constraints that cannot hold together although any smaller part of it can (deletion
// filtering), and what each of them is short of. With Blame::Limits it is minimal beside the rules that
// stand. Error of kind Internal if the system has a solution, Cancelled if a limit (for all searches
// together) was reached before it was known whether it has.
Result<Explanation> explain(const System& system, Blame blame = Blame::AnyRule,
                            const Limits& limits = kExplainLimits);

}  // namespace rondo::constraint
