#include "compiler/constraint/united.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace rondo::constraint {

namespace {

// The index of a variable in a system, or -1.
int find(const System& system, const std::string& name) {
  const auto& variables = system.names().variables;
  const auto found =
      std::ranges::find_if(variables, [&](const Names::Quantity& variable) { return variable.name == name; });
  return found == variables.end() ? -1 : static_cast<int>(found - variables.begin());
}

// Copies expressions of one system into another, in which its variables have other places. A quantity keeps
// its name, with `suffix` where the other system has that name already.
class Copier {
 public:
  Copier(System& to, const System& from, const std::map<std::string, Var>& variables,
         const std::string& suffix)
      : to_(to), from_(from), variables_(variables), suffix_(suffix) {}

  NodePtr copy(const NodePtr& node) {
    if (node->op == Op::Variable) return variables_.at(node->name).node();
    const auto known = copies_.find(node.get());
    if (known != copies_.end()) return known->second;
    return copies_[node.get()] = node->op == Op::Named ? quantity(*node) : parts(node);
  }

 private:
  NodePtr parts(const NodePtr& node) {
    if (node->children.empty()) return node;
    auto made = std::make_shared<Node>(*node);
    for (NodePtr& child : made->children) child = copy(child);
    return made;
  }

  NodePtr quantity(const Node& node) {
    const auto named = [&](const System& system) -> const Names::Quantity* {
      for (const Names::Quantity& quantity : system.names().definitions)
        if (quantity.name == node.name) return &quantity;
      return nullptr;
    };
    const std::string name = named(to_) == nullptr ? node.name : node.name + suffix_;
    return to_.define(name, Expr(copy(node.children.front())), named(from_)->description).node();
  }

  System& to_;
  const System& from_;
  const std::map<std::string, Var>& variables_;
  const std::string& suffix_;
  std::map<const Node*, NodePtr> copies_;
};

class Union {
 public:
  Union(const System& first, const System& second, const Selector& selector)
      : first_(first), second_(second), selector_(selector.variable), suffix_(selector.suffix) {}

  // The selector comes first: once it has a value, the rules of one of the two hold by themselves.
  System make() {
    add(selector_);
    for (const System* system : {&first_, &second_})
      for (const Names::Quantity& variable : system->names().variables)
        if (variables_.count(variable.name) == 0) add(variable.name);
    const std::vector<Value>&low = domain(first_, selector_)->values(),
          &high = domain(second_, selector_)->values();
    if (low.empty() || high.empty() || low.back() >= high.front())
      throw std::logic_error(fmt::format("'{}' does not tell two spaces apart", selector_));
    require(first_, variables_.at(selector_) <= low.back());
    require(second_, variables_.at(selector_) > low.back());
    return std::move(result_);
  }

 private:
  const Domain* domain(const System& system, const std::string& name) const {
    const int index = find(system, name);
    return index < 0 ? nullptr : &system.domains()[static_cast<std::size_t>(index)];
  }

  void add(const std::string& name) {
    std::vector<Value> all;
    std::string description;
    for (const System* system : {&second_, &first_}) {
      const int index = find(*system, name);
      if (index < 0 && name == selector_) throw std::logic_error(fmt::format("one space has no '{}'", name));
      if (index < 0) continue;
      const auto& values = domain(*system, name)->values();
      all.insert(all.end(), values.begin(), values.end());
      description = system->names().variables[static_cast<std::size_t>(index)].description;
    }
    variables_.emplace(name, result_.var(name, Domain(std::move(all)), description));
  }

  void require(const System& system, const Condition& these) {
    for (const auto& [name, variable] : variables_) {
      const std::vector<Value>& all = result_.domains()[variable.index()].values();
      const Domain* own = domain(system, name);
      if (name == selector_ || (own != nullptr && own->values().size() == all.size())) continue;
      const std::vector<Value> held = own == nullptr ? std::vector{all.front()} : own->values();
      const Condition rule = held.empty() ? variable < all.front() : one_of(variable, held);
      result_.require(implies(these, rule), fmt::format("{} with such {}", name, selector_));
    }
    Copier copier(result_, system, variables_, suffix_);
    for (const Constraint& rule : system.constraints())
      result_.require(implies(these, Condition(copier.copy(rule.condition.node()))), rule.label);
  }

  const System& first_;
  const System& second_;
  const std::string selector_, suffix_;
  System result_;
  std::map<std::string, Var> variables_;
};

}  // namespace

System united(const System& first, const System& second, const Selector& selector) {
  return Union(first, second, selector).make();
}

}  // namespace rondo::constraint
