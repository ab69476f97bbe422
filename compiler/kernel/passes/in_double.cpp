#include "compiler/kernel/passes/in_double.h"

#include <limits>
#include <stdexcept>

#include "compiler/kernel/ir/visit.h"

namespace rondo::kernel {

namespace {

[[noreturn]] void refuse(const Kernel& kernel, const std::string& what) {
  throw std::logic_error("kernel " + kernel.name + " has no form in fp64: " + what);
}

void widen(Type& type) {
  if (type == Type::F32) type = Type::F64;
}

void widen(const Kernel& kernel, Storage& storage) {
  if (scalar::is_half(storage)) refuse(kernel, std::string("memory of ") + storage_name(storage));
  if (storage == Storage::F32) storage = Storage::F64;
}

void widen(Expr& expr) {
  widen(expr.type);
  auto* constant = std::get_if<FloatConst>(&expr.node);
  if (constant != nullptr && constant->value == static_cast<double>(std::numeric_limits<float>::lowest()))
    constant->value = std::numeric_limits<double>::lowest();
}

// Kernels begin with what they are: "..., fp32 in memory".
void widen(std::string& comment) {
  constexpr std::string_view kNarrow = "fp32 in memory", kWide = "fp64 in memory";
  if (const std::size_t at = comment.find(kNarrow); at != std::string::npos)
    comment.replace(at, kNarrow.size(), kWide);
}

bool is_of_fp32(const Expr& expr) {
  return std::holds_alternative<PackExpr>(expr.node) || std::holds_alternative<UnpackExpr>(expr.node) ||
         std::holds_alternative<RoundExpr>(expr.node);
}

bool is_of_fp32(const Stmt& stmt) {
  return std::visit(
      Overloaded{[](const Mma&) { return true; }, [](const LoadMatrix&) { return true; },
                 [](const WarpgroupMma&) { return true; }, [](const CopyAsync&) { return true; },
                 [](const StoreAsync&) { return true; }, [](const TileMma&) { return true; },
                 [](const PackTile&) { return true; }, [](const StoreSelfFlagged&) { return true; },
                 [](const LoadSelfFlagged&) { return true; }, [](const auto&) { return false; }},
      stmt.node);
}

}  // namespace

Kernel in_double(Kernel kernel) {
  widen(kernel.comment);
  for (Param& param : kernel.params) {
    if (param.buffer) widen(kernel, param.storage);
    widen(param.type);
  }
  for (SharedArray& array : kernel.shared) widen(kernel, array.storage);
  for (Register& reg : kernel.registers) widen(reg.type);
  for (RegisterArray& array : kernel.arrays) widen(array.type);
  for (Expr& expr : kernel.expressions) {
    if (is_of_fp32(expr)) refuse(kernel, "packed pairs or numbers of tf32");
    widen(expr);
  }
  for_each_statement(kernel.body, [&](const Stmt& stmt) {
    if (is_of_fp32(stmt)) refuse(kernel, "an instruction on numbers of at most 32 bits");
  });
  return kernel;
}

}  // namespace rondo::kernel
