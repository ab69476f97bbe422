#include "compiler/backend/cuda/cold_branch.h"

#include <set>

#include "compiler/kernel/ir/visit.h"

namespace rondo::backend::cuda {

using namespace kernel;

namespace {

class Captures {
 public:
  explicit Captures(const Kernel& kernel) : kernel_(kernel) {}

  void walk(const Body& body) {
    for (const Stmt& stmt : body) {
      for_each_expression(stmt, [&](ExprId id) { expression(id); });
      std::visit(Overloaded{[&](const Let& s) { own_.insert(s.reg); },
                            [&](const Variable& s) { own_.insert(s.reg); },
                            [&](const Assign& s) { assigned_.insert(s.reg); },
                            [&](const DeclareArray& s) { arrays_.insert(s.array); },
                            [&](const ArrayWrite& s) { fits_ &= arrays_.contains(s.array); },
                            [&](const Load& s) {
                              memory(s.from);
                              own_.insert(s.into.begin(), s.into.end());
                            },
                            [&](const Store& s) { memory(s.to); },
                            [&](const For& s) {
                              own_.insert(s.variable);
                              walk(s.body);
                            },
                            [&](const If& s) {
                              walk(s.then_body);
                              walk(s.else_body);
                            },
                            [](const Comment&) {}, [&](const auto&) { fits_ = false; }},
                 stmt.node);
    }
  }

  std::optional<ColdBranch> found(const Body& body) const {
    if (!fits_) return std::nullopt;
    ColdBranch branch{"", &body, {params_.begin(), params_.end()}, {}, {}};
    for (const RegId reg : assigned_)
      if (!own_.contains(reg)) branch.assigns.push_back(reg);
    for (const RegId reg : read_)
      if (!own_.contains(reg) && !assigned_.contains(reg)) branch.reads.push_back(reg);
    return branch;
  }

 private:
  void expression(ExprId id) {
    const Expr& expr = kernel_.expr(id);
    std::visit(
        Overloaded{[&](const RegRead& e) { read_.insert(e.reg); },
                   [&](const ParamRead& e) { params_.insert(e.param); },
                   [&](const ArrayRead& e) { fits_ &= arrays_.contains(e.array); }, [](const auto&) {}},
        expr.node);
    for_each_operand(expr, [&](ExprId operand) { expression(operand); });
  }
  void memory(const MemRef& place) {
    fits_ &= place.space == Space::Global;
    params_.insert(place.id);
  }

  const Kernel& kernel_;
  bool fits_ = true;
  std::set<RegId> own_, read_, assigned_;
  std::set<ArrayId> arrays_;
  std::set<ParamId> params_;
};

}  // namespace

std::optional<ColdBranch> cold_branch(const Kernel& kernel, const Body& body) {
  Captures captures(kernel);
  captures.walk(body);
  return captures.found(body);
}

}  // namespace rondo::backend::cuda
