#include "compiler/backend/llvm/nvptx/values.h"

#include <stdexcept>

#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/integer.h"

namespace rondo::backend::nvptx {

using namespace kernel;

ValueWriter::ValueWriter(const Kernel& kernel, FunctionText& text, ModuleText& module)
    : kernel_(kernel),
      text_(text),
      module_(module),
      registers_(kernel.registers.size()),
      variables_(kernel.registers.size()),
      known_(kernel.registers.size()),
      arrays_(kernel.arrays.size()),
      params_(kernel.params.size()),
      shared_offsets_(kernel::shared_offsets(kernel)),
      mbarrier_offsets_(kernel::mbarrier_offsets(kernel)) {}

void ValueWriter::set(RegId reg, std::string value) {
  registers_[static_cast<std::size_t>(reg)] = std::move(value);
  variables_[static_cast<std::size_t>(reg)] = false;
}

void ValueWriter::make_variable(RegId reg) {
  registers_[static_cast<std::size_t>(reg)] = text_.slot(type_text(type(reg)), name(reg));
  variables_[static_cast<std::size_t>(reg)] = true;
  set_known(reg, std::nullopt);
}

void ValueWriter::assign(RegId reg, const std::string& value) {
  text_.line(fmt::format("store {} {}, ptr {}", type_text(type(reg)), value,
                         registers_[static_cast<std::size_t>(reg)]));
}

void ValueWriter::make_array(ArrayId array) {
  const RegisterArray& declared = kernel_.arrays[static_cast<std::size_t>(array)];
  std::vector<std::string>& slots = arrays_[static_cast<std::size_t>(array)];
  slots.clear();
  for (int i = 0; i < declared.size; ++i)
    slots.push_back(text_.slot(type_text(declared.type), fmt::format("{}_{}", declared.name, i)));
}

std::string ValueWriter::read(ArrayId array, std::int64_t element) {
  return text_.value("load {}, ptr {}", type_text(element_type(array)),
                     arrays_[static_cast<std::size_t>(array)].at(static_cast<std::size_t>(element)));
}
void ValueWriter::write(ArrayId array, std::int64_t element, const std::string& value) {
  text_.line(fmt::format("store {} {}, ptr {}", type_text(element_type(array)), value,
                         arrays_[static_cast<std::size_t>(array)].at(static_cast<std::size_t>(element))));
}
std::string ValueWriter::read(const ArraySlice& slice, int offset) {
  return read(slice.array, index(slice.first) + offset);
}
void ValueWriter::write(const ArraySlice& slice, int offset, const std::string& value) {
  write(slice.array, index(slice.first) + offset, value);
}

std::optional<std::int64_t> ValueWriter::known(ExprId id) const {
  return constant_value(kernel_, id, [this](RegId reg) { return known_[static_cast<std::size_t>(reg)]; });
}

std::int64_t ValueWriter::index(ExprId id) const {
  const std::optional<std::int64_t> value = known(id);
  if (!value) throw std::logic_error("an array's index is not known: the kernel was not verified");
  return *value;
}

bool ValueWriter::is_fixed(ExprId id) const {
  const Expr& expr = kernel_.expr(id);
  if (std::holds_alternative<ArrayRead>(expr.node)) return false;
  if (const auto* read = std::get_if<RegRead>(&expr.node))
    return !variables_[static_cast<std::size_t>(read->reg)];
  bool fixed = true;
  for_each_operand(expr, [&](ExprId operand) { fixed = fixed && is_fixed(operand); });
  return fixed;
}

std::string ValueWriter::typed(ExprId id) {
  std::string value = write(id);
  return fmt::format("{} {}", type_text(type_of(id)), value);
}

// The least memory of a launch holds all arrays, so their places are constants.
std::string ValueWriter::shared_place(std::int64_t offset) const {
  if (offset == 0) return "@shared_memory";
  return fmt::format("getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 {})", offset);
}

std::string ValueWriter::extended(ExprId id, Type to) {
  const Type from = type_of(id);
  std::string value = write(id);
  if (from == to || value.find('%') == std::string::npos) return value;
  return text_.value("{} {} {} to {}", to == Type::I64 ? "sext" : "trunc", type_text(from), value,
                     type_text(to));
}

std::string ValueWriter::address(const MemRef& place) {
  const auto id = static_cast<std::size_t>(place.id);
  if (place.space == Space::Global) {
    const std::string at = extended(place.index, Type::I64);
    const int bytes = storage_bytes(kernel_.params[id].storage);
    std::string first = params_[id];
    if (anew_)
      first = text_.value("call ptr addrspace(1) asm sideeffect \"\", \"=l,0\"(ptr addrspace(1) {})", first);
    return "ptr addrspace(1) " +
           text_.value("getelementptr inbounds i{}, ptr addrspace(1) {}, i64 {}", 8 * bytes, first, at);
  }
  const std::string at = extended(place.index, Type::I32);
  const int bytes = storage_bytes(kernel_.shared[id].storage);
  return "ptr addrspace(3) " + text_.value("getelementptr inbounds i{}, ptr addrspace(3) {}, i32 {}",
                                           8 * bytes, shared_place(shared_offsets_[id]), at);
}

std::string ValueWriter::address(const MbarrierRef& barrier) {
  const std::string at = write(barrier.index);
  return "ptr addrspace(3) " +
         text_.value("getelementptr inbounds i64, ptr addrspace(3) {}, i32 {}",
                     shared_place(mbarrier_offsets_[static_cast<std::size_t>(barrier.id)]), at);
}

void ValueWriter::set_param(ParamId param, std::string value) {
  params_[static_cast<std::size_t>(param)] = std::move(value);
}

std::string ValueWriter::call(std::string_view type, const std::string& helper, std::string_view arguments) {
  module_.require(helper);
  return text_.value("call {} @{}({})", type, helper, arguments);
}

void ValueWriter::call(const std::string& helper, std::string_view arguments) {
  module_.require(helper);
  text_.line(fmt::format("call void @{}({})", helper, arguments));
}

}  // namespace rondo::backend::nvptx
