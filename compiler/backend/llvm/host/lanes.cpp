#include "compiler/backend/llvm/host/lanes.h"

#include <stdexcept>

#include "compiler/kernel/passes/integer.h"

namespace rondo::backend::host {

using namespace kernel;
using nvptx::type_text;

LaneValues::LaneValues(const Kernel& kernel, FunctionText& text, VectorHelpers& helpers)
    : kernel_(kernel),
      spreads_(kernel),
      text_(text),
      helpers_(helpers),
      registers_(kernel.registers.size()),
      variables_(kernel.registers.size()),
      known_(kernel.registers.size()),
      arrays_(kernel.arrays.size()),
      params_(kernel.params.size()),
      shared_offsets_(kernel::shared_offsets(kernel)) {}

std::string LaneValues::vector_type(std::string_view element) const {
  return fmt::format("<{} x {}>", lanes(), element);
}
std::string LaneValues::vector_type(Type type) const { return vector_type(type_text(type)); }

// ---- forms ----

std::string LaneValues::splat(const std::string& value, std::string_view type) {
  if (value.find('%') == std::string::npos) return fmt::format("splat ({} {})", type, value);
  const std::string whole = vector_type(type);
  const std::string first = text_.value("insertelement {} poison, {} {}, i64 0", whole, type, value);
  return text_.value("shufflevector {0} {1}, {0} poison, <{2} x i32> zeroinitializer", whole, first, lanes());
}

// "<i32 0, i32 4, i32 8, ...>"
std::string LaneValues::steps(std::int64_t stride, std::string_view type) const {
  std::string text;
  for (int lane = 0; lane < lanes(); ++lane)
    text += fmt::format("{}{} {}", lane > 0 ? ", " : "", type, stride * lane);
  return "<" + text + ">";
}

std::string LaneValues::vector(const Operand& operand, Type type) {
  if (operand.spread.is_varying()) return operand.text;
  const std::string_view element = type_text(type);
  if (operand.spread.is_uniform()) return splat(operand.text, element);
  const std::string all = operand.text == "0" ? "" : splat(operand.text, element);
  const std::string own = steps(operand.spread.stride, element);
  return all.empty() ? own : text_.value("add {} {}, {}", vector_type(element), all, own);
}

std::string LaneValues::in_form(const Operand& operand, Spread spread, Type type) {
  return spread.is_varying() ? vector(operand, type) : operand.text;
}

// ---- registers and arrays ----

void LaneValues::set(RegId reg, std::string text) {
  registers_[index_of(reg)] = std::move(text);
  variables_[index_of(reg)] = false;
}

void LaneValues::make_variable(RegId reg) {
  const bool varies = spreads_.of_register(reg).is_varying();
  registers_[index_of(reg)] =
      text_.slot(varies ? vector_type(type(reg)) : std::string(type_text(type(reg))), name(reg));
  variables_[index_of(reg)] = true;
  set_known(reg, std::nullopt);
}

void LaneValues::assign(RegId reg, ExprId value, bool blended) {
  const Spread form = spreads_.of_register(reg);
  const std::string slot = registers_[index_of(reg)];
  std::string text = in_form(write(value), form, type(reg));
  const std::string whole = form.is_varying() ? vector_type(type(reg)) : std::string(type_text(type(reg)));
  if (blended && !mask_.empty()) {
    const std::string before = text_.value("load {}, ptr {}", whole, slot);
    const std::string mask = is_real(type(reg)) ? apart(mask_) : mask_;
    text = text_.value("select {0} {1}, {2} {3}, {2} {4}", vector_type("i1"), mask, whole, text, before);
  }
  text_.line(fmt::format("store {} {}, ptr {}", whole, text, slot));
}

void LaneValues::make_array(ArrayId array) {
  const RegisterArray& declared = kernel_.arrays[static_cast<std::size_t>(array)];
  std::vector<std::string>& slots = arrays_[static_cast<std::size_t>(array)];
  slots.clear();
  for (int i = 0; i < declared.size; ++i)
    slots.push_back(text_.slot(vector_type(declared.type), fmt::format("{}_{}", declared.name, i)));
}

std::string LaneValues::slot(ArrayId array, ExprId index) const {
  const auto element = known(index);
  if (!element) throw std::logic_error("an array's index is not known: the kernel was not verified");
  return arrays_[static_cast<std::size_t>(array)].at(static_cast<std::size_t>(*element));
}

void LaneValues::write(ArrayId array, ExprId index, ExprId value) {
  const Type type = kernel_.arrays[static_cast<std::size_t>(array)].type;
  const std::string place = slot(array, index);
  text_.line(fmt::format("store {} {}, ptr {}", vector_type(type), vector(value), place));
}

// ---- lanes that take part ----

std::string LaneValues::both(const std::string& mask, const std::string& condition) {
  return mask.empty() ? condition : text_.value("and {} {}, {}", vector_type("i1"), mask, condition);
}

// The mask as one that LLVM takes for another. Of a choice and a load with one mask LLVM 22 makes a masked
// instruction; where it takes the load out of that again, the load has no mask and leaves the tensor
// (x86-64-v4).
std::string LaneValues::apart(const std::string& mask) {
  constexpr int kRegister = 64;  // bits
  if (lanes() > kRegister) return mask;
  const std::string bits = text_.value("bitcast {} {} to i{}", vector_type("i1"), mask, lanes());
  const std::string same = text_.value("call i{0} asm \"\", \"=r,0\"(i{0} {1})", lanes(), bits);
  return text_.value("bitcast i{} {} to {}", lanes(), same, vector_type("i1"));
}

std::string LaneValues::any(const std::string& mask) {
  return text_.value("call i1 @llvm.vector.reduce.or.v{}i1({} {})", lanes(), vector_type("i1"), mask);
}

// ---- memory ----

Operand LaneValues::address(const MemRef& place, int bytes) {
  std::string base = place.space == Space::Global ? params_[static_cast<std::size_t>(place.id)] : "%shared";
  if (place.space == Space::Shared) {
    const std::int64_t offset = shared_offsets_[static_cast<std::size_t>(place.id)];
    if (offset != 0) base = text_.value("getelementptr inbounds i8, ptr %shared, i64 {}", offset);
  }
  const Operand index = write(place.index);
  const Type type = kernel_.expr(place.index).type;
  if (!index.spread.is_varying()) {
    std::string at = index.text;
    if (type == Type::I32 && at.find('%') != std::string::npos) at = text_.value("sext i32 {} to i64", at);
    return {text_.value("getelementptr inbounds i{}, ptr {}, i64 {}", 8 * bytes, base, at), index.spread};
  }
  std::string at = index.text;
  if (type == Type::I32) at = text_.value("sext {} {} to {}", vector_type("i32"), at, vector_type("i64"));
  return {text_.value("getelementptr inbounds i{}, ptr {}, {} {}", 8 * bytes, base, vector_type("i64"), at),
          index.spread};
}

}  // namespace rondo::backend::host
