// The values of one kernel for all lanes of a block: KernelIR expressions as instructions on scalars and
// vectors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/backend/llvm/host/spread.h"
#include "compiler/backend/llvm/host/vector_helpers.h"
#include "compiler/backend/llvm/nvptx/function_text.h"
#include "compiler/backend/llvm/nvptx/math_table.h"
#include "compiler/kernel/ir/ir.h"

namespace rondo::backend::host {

using nvptx::FunctionText;

// An operand of the text: of a strided spread the scalar of lane 0, else a vector with an element a lane.
struct Operand {
  std::string text;
  Spread spread;
};

class LaneValues {
 public:
  LaneValues(const kernel::Kernel& kernel, FunctionText& text, VectorHelpers& helpers);

  const Spreads& spreads() const { return spreads_; }
  int lanes() const { return kernel_.threads; }
  const target::Target& target() const { return helpers_.target(); }
  std::string vector_type(kernel::Type type) const;
  std::string vector_type(std::string_view element) const;

  // ---- registers and arrays ----
  void set(kernel::RegId reg, std::string text);  // in the form of the register's spread
  void set_known(kernel::RegId reg, std::optional<std::int64_t> value) { known_[index_of(reg)] = value; }
  void make_variable(kernel::RegId reg);
  void assign(kernel::RegId reg, kernel::ExprId value, bool blended);
  const std::string& name(kernel::RegId reg) const { return kernel_.registers[index_of(reg)].name; }
  kernel::Type type(kernel::RegId reg) const { return kernel_.registers[index_of(reg)].type; }
  void make_array(kernel::ArrayId array);
  void write(kernel::ArrayId array, kernel::ExprId index, kernel::ExprId value);
  void set_param(kernel::ParamId param, std::string value) {
    params_[static_cast<std::size_t>(param)] = std::move(value);
  }

  // ---- expressions ----
  void next_statement() { written_.clear(); }
  Operand write(kernel::ExprId id);
  std::string vector(kernel::ExprId id) { return vector(write(id), kernel_.expr(id).type); }
  // All lanes of an operand.
  std::string vector(const Operand& operand, kernel::Type type);
  // The operand in the form of a spread, of which its own is a case.
  std::string in_form(const Operand& operand, Spread spread, kernel::Type type);
  std::optional<std::int64_t> known(kernel::ExprId id) const;
  std::string splat(const std::string& value, std::string_view type);

  // ---- lanes that take part ----
  const std::string& mask() const { return mask_; }  // "": all of them
  void set_mask(std::string mask) { mask_ = std::move(mask), written_.clear(); }
  std::string both(const std::string& mask, const std::string& condition);
  std::string apart(const std::string& mask);
  std::string any(const std::string& mask);  // whether it has a lane, i1

  // ---- memory ----
  // Address of an element, in bytes of `bytes` each: of lane 0, or a vector of pointers.
  Operand address(const kernel::MemRef& place, int bytes);

 private:
  struct Visit;
  static std::size_t index_of(kernel::RegId reg) { return static_cast<std::size_t>(reg); }
  std::string slot(kernel::ArrayId array, kernel::ExprId index) const;
  std::string apply(const nvptx::Form& form, const kernel::MathExpr& math, kernel::Type type);
  std::string truth(kernel::ExprId id);
  std::string number(const std::string& condition, kernel::Type type);
  std::string steps(std::int64_t stride, std::string_view type) const;

  const kernel::Kernel& kernel_;
  Spreads spreads_;
  FunctionText& text_;
  VectorHelpers& helpers_;
  std::vector<std::string> registers_;
  std::vector<bool> variables_;
  std::vector<std::optional<std::int64_t>> known_;
  std::vector<std::vector<std::string>> arrays_;
  std::vector<std::string> params_;
  std::vector<std::int64_t> shared_offsets_;
  std::map<kernel::ExprId, Operand> written_;
  std::string mask_;
};

}  // namespace rondo::backend::host
