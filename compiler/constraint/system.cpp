#include "compiler/constraint/system.h"

#include <fmt/format.h>

#include <unordered_set>

namespace rondo::constraint {

namespace {

// Visits each node once, however often it is shared.
template <class Visit>
void walk(const Node& node, std::unordered_set<const Node*>& seen, const Visit& visit) {
  if (!seen.insert(&node).second) return;
  visit(node);
  for (const NodePtr& child : node.children) walk(*child, seen, visit);
}

std::string list_of(const Names& names) {
  std::string text;
  for (const Names::Quantity& variable : names.variables)
    text += (text.empty() ? "the variables are " : ", ") + variable.name;
  return text.empty() ? "there are no variables" : text;
}

}  // namespace

void System::claim(const std::string& name) const {
  if (name.empty()) throw std::logic_error("a constraint variable needs a name");
  for (const auto* list : {&names_->variables, &names_->definitions}) {
    for (const Names::Quantity& quantity : *list) {
      if (quantity.name == name) throw std::logic_error(fmt::format("'{}' is declared twice", name));
    }
  }
}

void System::admit(const Node& node) const {
  std::unordered_set<const Node*> seen;
  walk(node, seen, [&](const Node& part) {
    if (part.op != Op::Variable) return;
    if (part.variable < domains_.size() && names_->variables[part.variable].name == part.name) return;
    throw std::logic_error(fmt::format("'{}' is no variable of this system", part.name));
  });
}

// Assignments and copies of the system keep the table of names they were made with.
Names& System::own_names() {
  if (names_.use_count() > 1) names_ = std::make_shared<Names>(*names_);
  return *names_;
}

Var System::var(const std::string& name, Domain domain, const std::string& description) {
  claim(name);
  Var made(domains_.size(), name);
  own_names().variables.push_back({name, made, description});
  domains_.push_back(std::move(domain));
  return made;
}

Expr System::define(const std::string& name, const Expr& value, const std::string& description) {
  claim(name);
  admit(*value.node());
  auto node = std::make_shared<Node>();
  node->op = Op::Named;
  node->name = name;
  node->children = {value.node()};
  Expr named{NodePtr(std::move(node))};
  own_names().definitions.push_back({name, named, description});
  return named;
}

std::size_t System::require(const Condition& condition, const std::string& label, Shortage shortage) {
  if (label.empty()) throw std::logic_error("a constraint needs a label");
  admit(*condition.node());
  constraints_.push_back(
      {condition, label, std::move(shortage), std::make_shared<const Program>(compile(*condition.node()))});
  return constraints_.size() - 1;
}

System System::with(std::size_t variable, Domain domain) const {
  System result = *this;
  result.domains_.at(variable) = std::move(domain);
  return result;
}

System System::restricted_to(std::span<const std::size_t> kept) const {
  System part;
  part.names_ = names_;
  part.domains_ = domains_;
  for (const std::size_t index : kept) part.constraints_.push_back(constraints_.at(index));
  return part;
}

std::vector<std::size_t> System::violated(const Assignment& at) const {
  std::vector<std::size_t> broken;
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    if (!at.holds(constraints_[i].condition)) broken.push_back(i);
  }
  return broken;
}

Result<Assignment> System::check(const std::map<std::string, Value>& chosen) const {
  std::vector<Value> point;
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const Names::Quantity& variable = names_->variables[i];
    const auto found = chosen.find(variable.name);
    if (found == chosen.end()) {
      return Error{ErrorKind::Input,
                   fmt::format("no value for '{}' ({})", variable.name, variable.description),
                   fmt::format("choose from {}", domains_[i].to_string())};
    }
    if (!domains_[i].contains(found->second)) {
      return Error{
          ErrorKind::Input,
          fmt::format("'{}' = {} is not allowed ({})", variable.name, found->second, variable.description),
          fmt::format("choose from {}", domains_[i].to_string())};
    }
    point.push_back(found->second);
  }
  for (const auto& [name, unused] : chosen) {
    bool known = false;
    for (const Names::Quantity& variable : names_->variables) known = known || variable.name == name;
    if (!known)
      return Error{ErrorKind::Input, fmt::format("there is no variable '{}' to set", name), list_of(*names_)};
  }
  Assignment at(names_, std::move(point));
  std::string broken;
  for (const std::size_t index : violated(at)) {
    const Constraint& rule = constraints_[index];
    broken += fmt::format("{}{}: {}", broken.empty() ? "" : "; ", rule.label,
                          rule.shortage ? rule.shortage(at) : to_string(rule.condition) + " does not hold");
  }
  if (!broken.empty()) return Error{ErrorKind::Input, fmt::format("{} ({})", broken, at.to_string())};
  return at;
}

}  // namespace rondo::constraint
