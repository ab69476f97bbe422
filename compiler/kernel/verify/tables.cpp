#include <fmt/format.h>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/integer.h"
#include "compiler/kernel/verify/parts.h"

namespace rondo::kernel {

namespace {

constexpr int kMaxThreads = 1024;  // of a block, on every GPU since Fermi
// PTX ISA, mbarrier: the range of the count of pending arrivals is 1 to 2^20 - 1.
constexpr int kMaxArrivals = (1 << 20) - 1;

void verify_sizes(const Kernel& kernel, Findings& findings) {
  if (kernel.name.empty()) findings.add("the kernel has no name");
  if (kernel.threads < 1 || kernel.threads > kMaxThreads)
    findings.add(fmt::format("kernel {}: {} threads a block; 1 to {} are legal", kernel.name, kernel.threads,
                             kMaxThreads));
  if (kernel.min_blocks < 1)
    findings.add(fmt::format("kernel {}: min_blocks {} is below 1", kernel.name, kernel.min_blocks));
  // Powers of two so that a cluster fits the GPU's processor groups; up to 8 are portable, 16 is the most.
  if (kernel.cluster < 1 || kernel.cluster > 16 || (kernel.cluster & (kernel.cluster - 1)) != 0)
    findings.add(
        fmt::format("kernel {}: clusters of {}; 1, 2, 4, 8 and 16 are legal", kernel.name, kernel.cluster));
  for (const MbarrierArray& array : kernel.mbarriers) {
    if (array.count < 1)
      findings.add(fmt::format("mbarrier {}: {} of them; at least 1 needed", array.name, array.count));
    if (array.arrivals < 1 || array.arrivals > kMaxArrivals)
      findings.add(fmt::format("mbarrier {}: {} arrivals; 1 to {} are legal", array.name, array.arrivals,
                               kMaxArrivals));
  }
  for (const SharedArray& array : kernel.shared)
    if (array.elements < 1)
      findings.add(
          fmt::format("shared array {}: {} elements; at least 1 needed", array.name, array.elements));
  for (const RegisterArray& array : kernel.arrays) {
    if (array.size < 1)
      findings.add(fmt::format("register array {}: size {}; at least 1 needed", array.name, array.size));
    if (array.type == Type::Pred)
      findings.add(fmt::format("register array {}: predicates live in registers only", array.name));
  }
  for (const Param& param : kernel.params)
    if (!param.buffer && param.type == Type::Pred)
      findings.add(fmt::format("param {}: a scalar argument is i32, i64, f32 or f64", param.name));
  const auto params = static_cast<ParamId>(kernel.params.size());
  if (kernel.status >= params) findings.add(fmt::format("status: there is no param {}", kernel.status));
  if (kernel.status < 0 || kernel.status >= params) return;
  const Param& status = kernel.params[static_cast<std::size_t>(kernel.status)];
  if (!status.buffer || !status.written || status.storage != Storage::I32)
    findings.add(fmt::format("status {}: it must be a written buffer of int32", status.name));
}

// Real numbers of one type: nothing converts them.
void verify_reals(const Kernel& kernel, Findings& findings) {
  if (!is_in_double(kernel)) return;
  const auto see = [&](bool fp32, const std::string& what) {
    if (fp32) findings.add(fmt::format("{} is no double in a kernel in fp64", what));
  };
  for (const Register& reg : kernel.registers) see(reg.type == Type::F32, reg.name);
  for (const RegisterArray& array : kernel.arrays) see(array.type == Type::F32, array.name);
  for (const SharedArray& array : kernel.shared) see(element_type(array.storage) == Type::F32, array.name);
  for (const Param& param : kernel.params)
    see(param.buffer ? element_type(param.storage) == Type::F32 : param.type == Type::F32, param.name);
  for (std::size_t i = 0; i < kernel.expressions.size(); ++i)
    see(kernel.expressions[i].type == Type::F32, fmt::format("expression {}", i));
}

void verify_named(const Kernel& kernel, Findings& findings) {
  for (const auto& [id, name] : kernel.named_uses) {
    const bool known = id >= 0 && static_cast<std::size_t>(id) < kernel.expressions.size() && name >= 0 &&
                       static_cast<std::size_t>(name) < kernel.named.size();
    const auto* constant = known ? std::get_if<IntConst>(&kernel.expr(id).node) : nullptr;
    if (constant == nullptr || constant->value != kernel.named[static_cast<std::size_t>(name)].value)
      findings.add(fmt::format("named use {} of expression {}: no integer constant of that value", name, id));
  }
}

}  // namespace

void verify_tables(const Kernel& kernel, Findings& findings) {
  verify_sizes(kernel, findings);
  for (std::size_t i = 0; i < kernel.expressions.size(); ++i)
    for_each_operand(kernel.expressions[i], [&](ExprId operand) {
      if (operand < 0 || static_cast<std::size_t>(operand) >= i)
        findings.add(fmt::format("expression {} `{}`: operand {} does not come before it", i,
                                 print(kernel, static_cast<ExprId>(i)), operand));
    });
  verify_named(kernel, findings);
  verify_reals(kernel, findings);
}

}  // namespace rondo::kernel
