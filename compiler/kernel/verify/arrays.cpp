#include <fmt/format.h>

#include <optional>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/ir/print_expression.h"
#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/integer.h"
#include "compiler/kernel/verify/parts.h"

namespace rondo::kernel {

namespace {

// Unrolled loops nest, so the number of statements met is a product; past this many the rest goes unchecked
// here (the simulator still reports every index out of range).
constexpr std::int64_t kVisitBudget = 1'000'000;

class ArrayCheck {
 public:
  ArrayCheck(const Kernel& kernel, Findings& findings)
      : kernel_(kernel),
        findings_(findings),
        known_(kernel.registers.size()),
        reads_(kernel.expressions.size(), false) {
    for (std::size_t i = 0; i < kernel.expressions.size(); ++i) {
      bool reads = std::holds_alternative<ArrayRead>(kernel.expressions[i].node);
      for_each_operand(kernel.expressions[i],
                       [&](ExprId id) { reads = reads || reads_[static_cast<std::size_t>(id)]; });
      reads_[i] = reads;
    }
  }

  void body(const Body& statements) {
    for (const Stmt& stmt : statements) {
      if (--budget_ < 0) return;
      for_each_expression(stmt, [&](ExprId id) { expression(id, stmt); });
      std::visit(
          Overloaded{[&](const Let& s) { known_[static_cast<std::size_t>(s.reg)] = value(s.value); },
                     [&](const ArrayWrite& s) { index(s.array, s.index, stmt); },
                     [&](const Mma& s) {
                       const MmaRegisters of = mma_registers(s.storage);
                       slice(s.acc, of.acc, stmt);
                       slice(s.a, of.a, stmt);
                       slice(s.b, of.b, stmt);
                     },
                     [&](const LoadMatrix& s) { slice(s.into, s.count, stmt); },
                     [&](const WarpgroupMma& s) { slice(s.acc, s.columns / 2, stmt); },
                     [&](const LoadSelfFlagged& s) { slice(s.into, 4 * s.vectors, stmt); },
                     [&](const For& s) { loop(s); }, [&](const If& s) { branch(s); }, [](const auto&) {}},
          stmt.node);
    }
  }

 private:
  std::optional<std::int64_t> value(ExprId id) const {
    return constant_value(kernel_, id, [this](RegId reg) { return known_[static_cast<std::size_t>(reg)]; });
  }

  void expression(ExprId id, const Stmt& stmt) {
    if (!reads_[static_cast<std::size_t>(id)]) return;
    const Expr& expr = kernel_.expr(id);
    for_each_operand(expr, [&](ExprId operand) { expression(operand, stmt); });
    if (const auto* read = std::get_if<ArrayRead>(&expr.node)) index(read->array, read->index, stmt);
  }

  void index(ArrayId array, ExprId id, const Stmt& stmt) {
    const auto at = value(id);
    const int size = kernel_.arrays[static_cast<std::size_t>(array)].size;
    if (!at)
      findings_.add(fmt::format("statement `{}`: index `{}` of {} is not known at compile time",
                                print(kernel_, stmt), print(kernel_, id), array_name(kernel_, array)));
    else if (*at < 0 || *at >= size)
      findings_.add(fmt::format("statement `{}`: index `{}` = {} is outside {}[{}]", print(kernel_, stmt),
                                print(kernel_, id), *at, array_name(kernel_, array), size));
  }

  void slice(const ArraySlice& slice, int count, const Stmt& stmt) {
    const auto first = value(slice.first);
    const int size = kernel_.arrays[static_cast<std::size_t>(slice.array)].size;
    if (!first || *first < 0 || *first >= size) return index(slice.array, slice.first, stmt);
    if (*first + count > size)
      findings_.add(fmt::format("statement `{}`: elements {} to {} reach outside {}[{}]",
                                print(kernel_, stmt), *first, *first + count - 1,
                                array_name(kernel_, slice.array), size));
  }

  // A loop is unrolled if the compiler is told to, completely or at least as often as it runs.
  void loop(const For& s) {
    const auto begin = value(s.begin), end = value(s.end), step = value(s.step);
    const bool constant = begin && end && step && *step > 0;
    if (!constant || (s.unroll != kFullUnroll && *begin + s.unroll * *step < *end)) return body(s.body);
    auto& variable = known_[static_cast<std::size_t>(s.variable)];
    for (std::int64_t i = *begin; i < *end && budget_ >= 0; i += *step) {
      variable = i;
      body(s.body);
    }
    variable.reset();
  }

  // A branch that is never taken may hold indices that would be out of range, such as `if (i + 1 < n) a[i +
  // 1]`.
  void branch(const If& s) {
    const auto condition = value(s.condition);
    if (condition != 0) body(s.then_body);
    if (!condition || *condition == 0) body(s.else_body);
  }

  const Kernel& kernel_;
  Findings& findings_;
  std::vector<std::optional<std::int64_t>> known_;
  std::vector<bool> reads_;  // expression holds an ArrayRead
  std::int64_t budget_ = kVisitBudget;
};

}  // namespace

void verify_arrays(const Kernel& kernel, Findings& findings) {
  ArrayCheck(kernel, findings).body(kernel.body);
}

}  // namespace rondo::kernel
