#include "compiler/kernel/passes/rematerialise.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/simplify.h"

namespace rondo::kernel {

namespace {

// By register: its value if a Let declares it.
using Definitions = std::map<RegId, ExprId>;

Definitions lets_of(const Body& body) {
  Definitions lets;
  for_each_statement(body, [&](const Stmt& stmt) {
    if (const auto* let = std::get_if<Let>(&stmt.node)) lets[let->reg] = let->value;
  });
  return lets;
}

// The Let registers whose values any thread can compute wherever it stands.
class Recomputable {
 public:
  explicit Recomputable(const Kernel& kernel) : kernel_(kernel), lets_(lets_of(kernel.body)) {}

  bool contains(RegId reg) {
    if (const auto known = known_.find(reg); known != known_.end()) return known->second;
    const auto let = lets_.find(reg);
    const bool result = let != lets_.end() && reads_nothing_else(let->second);
    return known_[reg] = result;
  }
  ExprId value(RegId reg) const { return lets_.at(reg); }

 private:
  bool reads_nothing_else(ExprId id) {
    const Expr& expr = kernel_.expr(id);
    if (std::holds_alternative<ArrayRead>(expr.node)) return false;
    if (const auto* read = std::get_if<RegRead>(&expr.node)) return contains(read->reg);
    bool result = true;
    for_each_operand(expr, [&](ExprId operand) { result = result && reads_nothing_else(operand); });
    return result;
  }

  const Kernel& kernel_;
  Definitions lets_;
  std::map<RegId, bool> known_;
};

// The copies of one body.
class Copies {
 public:
  Copies(Kernel& kernel, Recomputable& recomputable, std::set<std::string>& names, const Definitions& own)
      : kernel_(kernel), recomputable_(recomputable), names_(names), own_(own) {}

  // The expression with copies in place of what they copy; itself if it reads none.
  ExprId moved(ExprId id) {
    if (const auto known = moved_.find(id); known != moved_.end()) return known->second;
    return moved_[id] = move(id);
  }
  Body& lets() { return lets_; }

 private:
  ExprId move(ExprId id) {
    Expr copy = kernel_.expr(id);
    if (auto* read = std::get_if<RegRead>(&copy.node)) {
      if (own_.count(read->reg) != 0 || !recomputable_.contains(read->reg)) return id;
      read->reg = copy_of(read->reg);
      return add(std::move(copy));
    }
    bool changed = false;
    for_each_operand(copy, [&](ExprId& operand) {
      const ExprId other = moved(operand);
      changed = changed || other != operand;
      operand = other;
    });
    return changed ? add(std::move(copy)) : id;
  }

  RegId copy_of(RegId reg) {
    if (const auto known = copies_.find(reg); known != copies_.end()) return known->second;
    const ExprId value = moved(recomputable_.value(reg));
    const Register original = kernel_.registers[static_cast<std::size_t>(reg)];
    kernel_.registers.push_back({unique(original.name), original.type});
    const RegId copy = static_cast<RegId>(kernel_.registers.size()) - 1;
    lets_.push_back({Let{copy, value}});
    return copies_[reg] = copy;
  }

  std::string unique(const std::string& name) {
    std::string candidate = name + "_anew";
    for (int n = 2; !names_.insert(candidate).second; ++n) candidate = name + "_anew_" + std::to_string(n);
    return candidate;
  }
  ExprId add(Expr expr) {
    kernel_.expressions.push_back(std::move(expr));
    return static_cast<ExprId>(kernel_.expressions.size()) - 1;
  }

  Kernel& kernel_;
  Recomputable& recomputable_;
  std::set<std::string>& names_;
  const Definitions& own_;
  std::map<ExprId, ExprId> moved_;
  std::map<RegId, RegId> copies_;
  Body lets_;
};

class Rematerialiser {
 public:
  explicit Rematerialiser(Kernel& kernel) : kernel_(kernel), recomputable_(kernel) {
    for (const Register& reg : kernel.registers) names_.insert(reg.name);
    for (const RegisterArray& array : kernel.arrays) names_.insert(array.name);
    for (const Param& param : kernel.params) names_.insert(param.name);
    for (const SharedArray& array : kernel.shared) names_.insert(array.name);
    for (const MbarrierArray& array : kernel.mbarriers) names_.insert(array.name);
    for (const NamedInt& constant : kernel.named) names_.insert(constant.name);
  }

  // False: no cold branch reads what it could compute.
  bool run() {
    walk(kernel_.body);
    return changed_;
  }

 private:
  void walk(Body& body) {
    for (Stmt& stmt : body) {
      if (auto* loop = std::get_if<For>(&stmt.node)) walk(loop->body);
      auto* branch = std::get_if<If>(&stmt.node);
      if (branch == nullptr) continue;
      const auto each = [&](Body& side) { branch->cold ? begin_with_copies(side) : walk(side); };
      each(branch->then_body);
      each(branch->else_body);
    }
  }

  void begin_with_copies(Body& body) {
    const Definitions own = lets_of(body);
    Copies copies(kernel_, recomputable_, names_, own);
    for_each_statement(
        body, [&](Stmt& stmt) { for_each_expression(stmt, [&](ExprId& id) { id = copies.moved(id); }); });
    changed_ = changed_ || !copies.lets().empty();
    body.insert(body.begin(), copies.lets().begin(), copies.lets().end());
  }

  Kernel& kernel_;
  Recomputable recomputable_;  // of the kernel as it was, whose registers and expressions stay
  std::set<std::string> names_;
  bool changed_ = false;
};

}  // namespace

Kernel rematerialise_cold(Kernel kernel) {
  const bool changed = Rematerialiser(kernel).run();
  return changed ? simplify(std::move(kernel)) : kernel;
}

}  // namespace rondo::kernel
