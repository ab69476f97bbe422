#include <fmt/format.h>

#include "compiler/kernel/print.h"
#include "compiler/kernel/verify_parts.h"
#include "compiler/kernel/visit.h"

namespace rondo::kernel {

namespace {

// Which registers and arrays may hold different values in different threads of a block: ThreadX and what
// depends on it, through values or through control flow. PTX ISA, barrier: "barrier{.cta} ... all threads in
// the CTA participate", hence every thread must reach the same barriers.
class Divergence {
 public:
  explicit Divergence(const Kernel& kernel)
      : kernel_(kernel), registers_(kernel.registers.size(), false), arrays_(kernel.arrays.size(), false) {
    // A register may become varying late in a loop body and be read early in it: repeat until nothing
    // changes.
    do {
      changed_ = false;
      body(kernel.body, nullptr);
    } while (changed_);
  }

  void report(Findings& findings) {
    findings_ = &findings;
    body(kernel_.body, nullptr);
  }

 private:
  bool varies(ExprId id) const {
    const Expr& expr = kernel_.expr(id);
    if (const auto* read = std::get_if<RegRead>(&expr.node))
      return registers_[static_cast<std::size_t>(read->reg)];
    if (const auto* read = std::get_if<BuiltinRead>(&expr.node)) return read->builtin == Builtin::ThreadX;
    bool result = false;
    if (const auto* read = std::get_if<ArrayRead>(&expr.node))
      result = arrays_[static_cast<std::size_t>(read->array)];
    for_each_operand(expr, [&](ExprId operand) { result = result || varies(operand); });
    return result;
  }

  void mark(std::vector<bool>& table, int id, bool varying) {
    const auto at = static_cast<std::size_t>(id);
    if (!varying || table[at]) return;
    table[at] = true;
    changed_ = true;
  }

  // `divergent` is the innermost statement that not all threads of the block enter, or null.
  void body(const Body& statements, const Stmt* divergent) {
    for (const Stmt& stmt : statements) statement(stmt, divergent);
  }

  // Only memory that is constant during the launch gives every thread the same value at the same address.
  bool load_varies(const Load& s) const {
    const bool constant =
        s.from.space == Space::Global && !kernel_.params[static_cast<std::size_t>(s.from.id)].written;
    return !constant || varies(s.from.index);
  }

  void statement(const Stmt& stmt, const Stmt* divergent) {
    const bool control = divergent != nullptr;
    std::visit(
        Overloaded{[&](const Let& s) { mark(registers_, s.reg, varies(s.value)); },
                   [&](const Variable& s) { mark(registers_, s.reg, varies(s.initial)); },
                   [&](const Assign& s) { mark(registers_, s.reg, control || varies(s.value)); },
                   [&](const ArrayWrite& s) { mark(arrays_, s.array, control || varies(s.value)); },
                   [&](const Load& s) {
                     for (const RegId reg : s.into) mark(registers_, reg, load_varies(s));
                   },
                   [&](const Shuffle& s) { mark(registers_, s.into, varies(s.from) || varies(s.lane)); },
                   [&](const For& s) { loop(s, stmt, divergent); },
                   [&](const If& s) {
                     const Stmt* inner = !control && varies(s.condition) ? &stmt : divergent;
                     body(s.then_body, inner);
                     body(s.else_body, inner);
                   },
                   [&](const Barrier&) { barrier(divergent); }, [](const DeclareArray&) {},
                   [](const Store&) {}, [](const CopyAsync&) {}, [](const CommitCopies&) {},
                   [](const WaitCopies&) {}, [](const WarpSync&) {}, [](const Comment&) {}},
        stmt.node);
  }

  void loop(const For& s, const Stmt& stmt, const Stmt* divergent) {
    mark(registers_, s.variable, varies(s.begin) || varies(s.step));
    const bool bounds = varies(s.begin) || varies(s.end) || varies(s.step);
    body(s.body, divergent == nullptr && bounds ? &stmt : divergent);
  }

  void barrier(const Stmt* divergent) {
    if (divergent == nullptr || findings_ == nullptr) return;
    findings_->add(
        fmt::format("statement `barrier`: under `{}`, which may differ between threads of the block",
                    print(kernel_, *divergent)));
  }

  const Kernel& kernel_;
  std::vector<bool> registers_;
  std::vector<bool> arrays_;
  bool changed_ = false;
  Findings* findings_ = nullptr;
};

}  // namespace

void verify_barriers(const Kernel& kernel, Findings& findings) { Divergence(kernel).report(findings); }

}  // namespace rondo::kernel
