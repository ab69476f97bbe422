#include <fmt/format.h>

#include <optional>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/ir/print_expression.h"
#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/integer.h"
#include "compiler/kernel/verify/expression.h"
#include "compiler/kernel/verify/parts.h"

namespace rondo::kernel {

namespace {

constexpr int kMaxAccessBytes = 16;

// Where a register may be used, and how it was declared.
enum class Declared { No, Fixed, Variable };

class StatementCheck {
 public:
  StatementCheck(const Kernel& kernel, Findings& findings)
      : kernel_(kernel),
        findings_(findings),
        typed_(kernel.expressions.size(), false),
        seen_(kernel.expressions.size(), 0),
        in_scope_(kernel.registers.size(), Declared::No),
        ever_(kernel.registers.size(), false),
        array_in_scope_(kernel.arrays.size(), false),
        array_ever_(kernel.arrays.size(), false) {}

  void body(const Body& statements) {
    const std::size_t registers = scope_.size(), arrays = array_scope_.size();
    for (const Stmt& stmt : statements) statement(stmt);
    leave(registers, arrays);
  }

 private:
  void defect(const std::string& what) {
    findings_.add(fmt::format("statement `{}`: {}", print(kernel_, *current_), what));
  }

  void leave(std::size_t registers, std::size_t arrays) {
    for (; scope_.size() > registers; scope_.pop_back())
      in_scope_[static_cast<std::size_t>(scope_.back())] = Declared::No;
    for (; array_scope_.size() > arrays; array_scope_.pop_back())
      array_in_scope_[static_cast<std::size_t>(array_scope_.back())] = false;
  }

  void statement(const Stmt& stmt) {
    current_ = &stmt;
    ++visit_;
    bool sound = true;
    for_each_expression(stmt, [&](ExprId id) { sound = expression(id) && sound; });
    // Types of a statement whose expressions are broken say nothing; nested bodies are still looked at.
    if (sound || std::holds_alternative<For>(stmt.node) || std::holds_alternative<If>(stmt.node))
      std::visit([&](const auto& s) { visit(s); }, stmt.node);
  }

  // Checks the tree below `id`: each node's types once, the scopes of its reads in each statement.
  bool expression(ExprId id) {
    if (!has_entry(kernel_.expressions, id)) return defect(fmt::format("no expression {}", id)), false;
    const auto at = static_cast<std::size_t>(id);
    if (seen_[at] == visit_) return true;
    seen_[at] = visit_;
    const Expr& expr = kernel_.expr(id);
    bool sound = true;
    for_each_operand(expr, [&](ExprId operand) { sound = expression(operand) && sound; });
    if (!sound) return false;
    if (!typed_[at]) {
      const std::string what = expression_defect(kernel_, expr);
      if (!what.empty()) return defect(fmt::format("`{}`: {}", print(kernel_, id), what)), false;
      typed_[at] = true;
    }
    if (const auto* read = std::get_if<RegRead>(&expr.node);
        read != nullptr && in_scope_[static_cast<std::size_t>(read->reg)] == Declared::No)
      return defect(fmt::format("{} is read where it is not declared", register_name(kernel_, read->reg))),
             false;
    if (const auto* read = std::get_if<ArrayRead>(&expr.node)) return use_array(read->array);
    return true;
  }

  bool use_array(ArrayId array) {
    if (!has_entry(kernel_.arrays, array)) return defect(fmt::format("no register array {}", array)), false;
    if (array_in_scope_[static_cast<std::size_t>(array)]) return true;
    defect(fmt::format("{} is used where it is not declared", array_name(kernel_, array)));
    return false;
  }

  void declare(RegId reg, Type type, Declared how) {
    if (!has_entry(kernel_.registers, reg)) return defect(fmt::format("no register {}", reg));
    const auto at = static_cast<std::size_t>(reg);
    if (ever_[at]) return defect(fmt::format("{} is declared a second time", register_name(kernel_, reg)));
    if (kernel_.registers[at].type != type)
      defect(fmt::format("{} is {}, its value {}", register_name(kernel_, reg),
                         type_name(kernel_.registers[at].type), type_name(type)));
    ever_[at] = true;
    in_scope_[at] = how;
    scope_.push_back(reg);
  }

  Type of(ExprId id) const { return kernel_.expr(id).type; }
  void want_integer(ExprId id, const char* what) {
    if (!is_integer(of(id))) defect(fmt::format("{} is of type {}, not an integer", what, type_name(of(id))));
  }

  // The storage behind a reference, or nothing after reporting what is wrong with it.
  std::optional<Storage> memory(const MemRef& ref) {
    want_integer(ref.index, "the index");
    if (ref.space == Space::Shared) {
      if (has_entry(kernel_.shared, ref.id)) return kernel_.shared[static_cast<std::size_t>(ref.id)].storage;
      return defect(fmt::format("no shared array {}", ref.id)), std::nullopt;
    }
    if (!has_entry(kernel_.params, ref.id)) return defect(fmt::format("no param {}", ref.id)), std::nullopt;
    const Param& param = kernel_.params[static_cast<std::size_t>(ref.id)];
    if (!param.buffer) return defect(fmt::format("{} is a scalar, not a buffer", param.name)), std::nullopt;
    return param.storage;
  }

  static Type value_type(Storage storage, bool packed) { return packed ? Type::I32 : element_type(storage); }

  void width(std::size_t count, Storage storage, bool packed) {
    if (packed && !is_half(storage))
      return defect(fmt::format("packed pairs of {}; bf16 and fp16 have them", storage_name(storage)));
    if (packed) {
      if (count != 1 && count != 2 && count != 4)
        defect(fmt::format("an access of {} packed pairs; 1, 2 or 4 are legal", count));
      return;
    }
    if (count != 1 && count != 2 && count != 4 && count != 8)
      return defect(fmt::format("an access of {} elements; 1, 2, 4 or 8 are legal", count));
    const int bytes = static_cast<int>(count) * storage_bytes(storage);
    if (bytes > kMaxAccessBytes)
      defect(fmt::format("an access of {} bytes; at most {} are legal", bytes, kMaxAccessBytes));
  }
  void hint(CacheHint hint, const MemRef& ref) {
    if (hint != CacheHint::Default && ref.space == Space::Shared) defect("a cache hint on shared memory");
  }

  void visit(const Let& s) { declare(s.reg, of(s.value), Declared::Fixed); }
  void visit(const Variable& s) { declare(s.reg, of(s.initial), Declared::Variable); }
  void visit(const Assign& s) {
    if (!has_entry(kernel_.registers, s.reg)) return defect(fmt::format("no register {}", s.reg));
    const std::string name = register_name(kernel_, s.reg);
    const Declared how = in_scope_[static_cast<std::size_t>(s.reg)];
    if (how == Declared::No) return defect(name + " is assigned where it is not declared");
    if (how == Declared::Fixed) return defect(name + " is no variable, but assigned");
    const Type type = kernel_.registers[static_cast<std::size_t>(s.reg)].type;
    if (type != of(s.value))
      defect(fmt::format("{} is {}, its value {}", name, type_name(type), type_name(of(s.value))));
  }
  void visit(const DeclareArray& s) {
    if (!has_entry(kernel_.arrays, s.array)) return defect(fmt::format("no register array {}", s.array));
    const auto at = static_cast<std::size_t>(s.array);
    if (array_ever_[at]) return defect(array_name(kernel_, s.array) + " is declared a second time");
    array_ever_[at] = array_in_scope_[at] = true;
    array_scope_.push_back(s.array);
  }
  void visit(const ArrayWrite& s) {
    if (!use_array(s.array)) return;
    want_integer(s.index, "the index");
    const Type type = kernel_.arrays[static_cast<std::size_t>(s.array)].type;
    if (type != of(s.value))
      defect(fmt::format("an element is {}, its value {}", type_name(type), type_name(of(s.value))));
  }
  void visit(const Load& s) {
    const auto storage = memory(s.from);
    if (!storage) return;
    width(s.into.size(), *storage, s.packed);
    hint(s.hint, s.from);
    for (const RegId reg : s.into) declare(reg, value_type(*storage, s.packed), Declared::Fixed);
  }
  void visit(const Store& s) {
    const auto storage = memory(s.to);
    if (!storage) return;
    width(s.values.size(), *storage, s.packed);
    hint(s.hint, s.to);
    if (s.to.space == Space::Global && !kernel_.params[static_cast<std::size_t>(s.to.id)].written)
      defect(memory_name(kernel_, s.to.space, s.to.id) + " is read-only");
    for (const ExprId value : s.values)
      if (of(value) != value_type(*storage, s.packed))
        defect(fmt::format("a {} {} stored from {}", storage_name(*storage), s.packed ? "pair" : "element",
                           type_name(of(value))));
  }
  void visit(const Prefetch& s) {
    if (memory(s.from) && s.from.space != Space::Global) defect("a prefetch of shared memory");
    if (s.level != 1 && s.level != 2) defect(fmt::format("a prefetch to cache {}", s.level));
  }
  void visit(const CopyAsync& s) {
    if (s.to.space != Space::Shared || s.from.space != Space::Global)
      return defect("an asynchronous copy goes from global to shared memory");
    const auto to = memory(s.to), from = memory(s.from);
    if (!to || !from) return;
    if (*to != *from) defect(fmt::format("copies {} to {}", storage_name(*from), storage_name(*to)));
    // PTX ISA, cp.async: "cp-size ... can be 4, 8 and 16" bytes.
    const std::int64_t bytes = std::int64_t{s.elements} * storage_bytes(*from);
    if (bytes != 4 && bytes != 8 && bytes != 16)
      defect(fmt::format("copies {} bytes; 4, 8 or 16 are legal", bytes));
  }
  void visit(const CommitCopies&) {}
  void visit(const WaitCopies& s) {
    if (s.pending < 0) defect("waits for a negative number of groups");
  }
  void visit(const Barrier&) {}
  void visit(const WarpSync&) {}
  void visit(const ClusterBarrier&) {}
  void visit(const Shuffle& s) {
    if (of(s.lane) != Type::I32) defect("a lane is i32");
    if (of(s.from) == Type::Pred) defect("a predicate cannot be shuffled");
    declare(s.into, of(s.from), Declared::Fixed);
  }
  void visit(const Ballot& s) {
    if (of(s.predicate) != Type::Pred)
      defect(fmt::format("a vote on {}, not on a predicate", type_name(of(s.predicate))));
    declare(s.into, Type::I32, Declared::Fixed);
  }
  // Of the arrays only scope and type: counts and ranges are verify_units' and verify_arrays'.
  void slice(const ArraySlice& slice, Type type) {
    want_integer(slice.first, "the first element");
    if (!use_array(slice.array)) return;
    const Type declared = kernel_.arrays[static_cast<std::size_t>(slice.array)].type;
    if (declared != type)
      defect(fmt::format("{} is {}, not {}", array_name(kernel_, slice.array), type_name(declared),
                         type_name(type)));
  }
  // Packed pairs and other integers, or the bits of F32.
  void words(const ArraySlice& into) {
    const bool real = has_entry(kernel_.arrays, into.array) &&
                      kernel_.arrays[static_cast<std::size_t>(into.array)].type == Type::F32;
    slice(into, real ? Type::F32 : Type::I32);
  }
  void visit(const Mma& s) {
    const Type operand = s.storage == Storage::F32 ? Type::F32 : Type::I32;
    slice(s.acc, Type::F32);
    slice(s.a, operand);
    slice(s.b, operand);
  }
  void visit(const LoadMatrix& s) {
    slice(s.into, Type::I32);
    (void)memory(s.row);
  }
  void visit(const WarpgroupMma& s) {
    slice(s.acc, Type::F32);
    (void)memory(s.a.first);
    (void)memory(s.b.first);
  }
  void visit(const WgmmaWait& s) {
    if (s.pending < 0) defect("waits for a negative number of products");
  }
  void visit(const ProxyFence&) {}
  void visit(const TileMma& s) {
    want_i32(s.steps, "the number of steps");
    for (const MemRef& place : {s.sums, s.a, s.b}) (void)memory(place);
  }
  void visit(const PackTile& s) {
    (void)memory(s.to);
    (void)memory(s.from);
  }
  void want_i32(ExprId id, const char* what) {
    if (of(id) != Type::I32) defect(fmt::format("{} is of type {}, not i32", what, type_name(of(id))));
  }
  void mbarrier(const MbarrierRef& ref) {
    want_i32(ref.index, "the mbarrier's index");
    if (!has_entry(kernel_.mbarriers, ref.id)) defect(fmt::format("no mbarrier {}", ref.id));
  }
  void visit(const MbarrierArrive& s) {
    mbarrier(s.barrier);
    if (s.rank >= 0) want_i32(s.rank, "the rank");
  }
  void visit(const MbarrierExpect& s) {
    mbarrier(s.barrier);
    want_i32(s.bytes, "the number of bytes");
  }
  void visit(const MbarrierWait& s) {
    mbarrier(s.barrier);
    want_i32(s.parity, "the parity");
  }
  void visit(const StoreAsync& s) {
    mbarrier(s.barrier);
    want_i32(s.rank, "the rank");
    const auto storage = memory(s.to);
    if (!storage) return;
    const Type word = *storage == Storage::F32 ? Type::F32 : Type::I32;
    for (const ExprId value : s.values)
      if (of(value) != word)
        defect(
            fmt::format("a word of {} memory stored from {}", storage_name(*storage), type_name(of(value))));
  }
  void visit(const GridArrive& s) { (void)memory(s.counter); }
  void visit(const GridWait& s) {
    (void)memory(s.counter);
    want_i32(s.target, "the target");
  }
  void visit(const StoreSelfFlagged& s) {
    (void)memory(s.to);
    for (const ExprId value : s.values)
      if (of(value) != Type::F32) want_i32(value, "a flagged word that is not f32");
  }
  void visit(const LoadSelfFlagged& s) {
    words(s.into);
    (void)memory(s.from);
    want_i32(s.stride, "the stride");
  }
  void visit(const GridFence&) {}
  void visit(const SetMaxNReg& s) {
    if (s.count < 24 || s.count > 256 || s.count % 8 != 0)
      defect(fmt::format("{} registers; multiples of 8 from 24 to 256 are legal", s.count));
    if (kernel_.threads % 128 != 0)
      defect(fmt::format("registers change hands in a block of {} threads, which is no multiple of 128",
                         kernel_.threads));
  }
  void visit(const For& s) {
    bounds(s);
    const std::size_t registers = scope_.size();
    declare(s.variable, Type::I32, Declared::Fixed);
    body(s.body);
    leave(registers, array_scope_.size());
  }
  void bounds(const For& s) {
    for (const ExprId id : {s.begin, s.end, s.step})
      if (!has_entry(kernel_.expressions, id) || of(id) != Type::I32)
        return defect("begin, end and step are i32");
    const auto begin = constant_value(kernel_, s.begin), end = constant_value(kernel_, s.end);
    const auto step = constant_value(kernel_, s.step);
    if (step && *step <= 0) defect(fmt::format("a step of {}; it must be positive", *step));
    if (s.unroll < 0) defect(fmt::format("unrolled {} times", s.unroll));
    if (s.unroll == kFullUnroll && (!begin || !end || !step))
      defect("unrolled completely, but its bounds are no constants");
  }
  void visit(const If& s) {
    if (has_entry(kernel_.expressions, s.condition) && of(s.condition) != Type::Pred)
      defect("the condition is no predicate");
    body(s.then_body);
    body(s.else_body);
  }
  void visit(const Comment&) {}

  const Kernel& kernel_;
  Findings& findings_;
  const Stmt* current_ = nullptr;
  int visit_ = 0;
  std::vector<bool> typed_;
  std::vector<int> seen_;
  std::vector<Declared> in_scope_;
  std::vector<bool> ever_;
  std::vector<RegId> scope_;
  std::vector<bool> array_in_scope_;
  std::vector<bool> array_ever_;
  std::vector<ArrayId> array_scope_;
};

}  // namespace

void verify_statements(const Kernel& kernel, Findings& findings) {
  StatementCheck(kernel, findings).body(kernel.body);
}

}  // namespace rondo::kernel
