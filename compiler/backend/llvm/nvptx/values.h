// KernelIR expressions as instructions, and the places that they read from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/backend/llvm/nvptx/function_text.h"
#include "compiler/backend/llvm/nvptx/math_table.h"
#include "compiler/backend/llvm/nvptx/module_text.h"
#include "compiler/kernel/ir/ir.h"
#include "compiler/support/index.h"

namespace rondo::backend::nvptx {

// The registers and arrays of one kernel, and its expressions. An element of a register array is a variable
// of its own, as its index is known when the text is written: loops that arrays ask for are unrolled here.
class ValueWriter {
 public:
  ValueWriter(const kernel::Kernel& kernel, FunctionText& text, ModuleText& module);

  // ---- registers ----
  void set(kernel::RegId reg, std::string value);  // never assigned again
  const std::string& value(kernel::RegId reg) const { return registers_[at(reg)]; }
  void set_known(kernel::RegId reg, std::optional<std::int64_t> value) { known_[at(reg)] = value; }
  void make_variable(kernel::RegId reg);
  void assign(kernel::RegId reg, const std::string& value);
  const std::string& name(kernel::RegId reg) const { return kernel_.registers[at(reg)].name; }
  kernel::Type type(kernel::RegId reg) const { return kernel_.registers[at(reg)].type; }

  // ---- register arrays ----
  void make_array(kernel::ArrayId array);
  std::string read(const kernel::ArraySlice& slice, int offset);
  void write(const kernel::ArraySlice& slice, int offset, const std::string& value);
  void write(kernel::ArrayId array, std::int64_t element, const std::string& value);
  std::string read(kernel::ArrayId array, std::int64_t element);
  kernel::Type element_type(kernel::ArrayId array) const { return kernel_.arrays[at(array)].type; }

  // ---- expressions ----
  // Forgets what the last statement computed: variables may have changed.
  void next_statement() { written_.clear(); }
  std::string write(kernel::ExprId id);  // the operand that stands for it
  kernel::Type type_of(kernel::ExprId id) const { return kernel_.expr(id).type; }
  std::string typed(kernel::ExprId id);  // with its type before it
  // Value of an integer or predicate expression, where it is known here.
  std::optional<std::int64_t> known(kernel::ExprId id) const;
  std::int64_t index(kernel::ExprId id) const;  // of an array: known, or the verifier had complained

  // Whether no statement can change its value: it reads neither variables nor arrays.
  bool is_fixed(kernel::ExprId id) const;

  // Calls `body`, which writes the two ways of a condition. Where that is cold, built-in numbers and buffers'
  // addresses are read anew in them (If::cold).
  template <class Body>
  void within(const kernel::If& condition, const Body& body) {
    const bool before = std::exchange(anew_, anew_ || condition.cold);
    body();
    anew_ = before;
  }

  // ---- memory ----
  // "ptr addrspace(1) %.4"
  std::string address(const kernel::MemRef& place);
  std::string address(const kernel::MbarrierRef& barrier);
  // What stands `offset` bytes into shared memory, a constant.
  std::string shared_place(std::int64_t offset) const;
  void set_param(kernel::ParamId param, std::string value);
  const std::string& param(kernel::ParamId id) const { return params_[at(id)]; }

  // ---- calls of helpers: "call float @name(arguments)" ----
  std::string call(std::string_view type, const std::string& helper, std::string_view arguments);
  void call(const std::string& helper, std::string_view arguments);

 private:
  struct Visit;

  std::string apply(const Form& form, const kernel::MathExpr& math);
  std::string truth(kernel::ExprId id);  // an F32 expression as a condition: x != 0
  std::string number(const std::string& condition);
  std::string lazily(const std::string& condition, const std::string& yes, const std::string& no);
  std::string builtin(kernel::Builtin builtin);
  std::string extended(kernel::ExprId id, kernel::Type to);

  const kernel::Kernel& kernel_;
  FunctionText& text_;
  ModuleText& module_;
  std::vector<std::string> registers_;  // values, or the slots of variables
  std::vector<bool> variables_;
  std::vector<std::optional<std::int64_t>> known_;
  std::vector<std::vector<std::string>> arrays_;  // slots
  std::vector<std::string> params_;
  std::vector<std::int64_t> shared_offsets_, mbarrier_offsets_;
  std::map<kernel::ExprId, std::string> written_;
  bool anew_ = false;
};

}  // namespace rondo::backend::nvptx
