// A search space: variables, derived quantities and labelled constraints. Strategies state theirs beside
// their schedule:
//
//   System s;
//   const Var channels = s.var("channels", powers_of_two(16, 256), "channels a CTA");
//   const Var stages = s.var("stages", range(2, 8), "stages of the input ring");
//   const Expr bytes = s.define("smem_bytes", channels * stages * 128, "bytes of shared memory a CTA");
//   s.require(bytes <= 227 * 1024, "shared memory");
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/constraint/assignment.h"
#include "compiler/constraint/domain.h"
#include "compiler/constraint/expression.h"
#include "compiler/constraint/program.h"
#include "compiler/support/result.h"

namespace rondo::constraint {

// Text that tells a user, with the numbers of one assignment, what a constraint asks for and does not get.
using Shortage = std::function<std::string(const Assignment&)>;

struct Constraint {
  Condition condition;
  std::string label;                       // the resource or rule, in the user's terms: "shared memory"
  Shortage shortage;                       // may be empty: explain() then writes its own text
  std::shared_ptr<const Program> program;  // the condition, compiled
};

// A value: copies are independent. Order of declaration is kept everywhere.
class System {
 public:
  // Names are unique among variables and quantities; std::logic_error otherwise.
  Var var(const std::string& name, Domain domain, const std::string& description);
  // A named quantity. The returned expression prints as the name.
  Expr define(const std::string& name, const Expr& value, const std::string& description);
  // Returns the constraint's index. std::logic_error if it mentions a variable of another system, or has no
  // label. Of several conflicts explain() keeps the constraints stated last: state structure first, resources
  // after.
  std::size_t require(const Condition& condition, const std::string& label, Shortage shortage = {});

  const std::vector<Domain>& domains() const { return domains_; }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  const Names& names() const { return *names_; }
  std::shared_ptr<const Names> shared_names() const { return names_; }

  // The same variables under only these constraints (indices into constraints()).
  System restricted_to(std::span<const std::size_t> kept) const;

  // The same variables and constraints, one variable (an index into domains()) with another domain.
  System with(std::size_t variable, Domain domain) const;

  // The point a caller chose by hand: exactly one value for each variable. Error of kind Input that names the
  // missing or unknown variable (the hint: those there are), the value outside its domain, or every rule that
  // it breaks, with the numbers.
  Result<Assignment> check(const std::map<std::string, Value>& chosen) const;

  // Indices of the constraints that do not hold there.
  std::vector<std::size_t> violated(const Assignment& at) const;

 private:
  void claim(const std::string& name) const;
  void admit(const Node& node) const;
  Names& own_names();

  std::shared_ptr<Names> names_ = std::make_shared<Names>();
  std::vector<Domain> domains_;
  std::vector<Constraint> constraints_;
};

}  // namespace rondo::constraint
