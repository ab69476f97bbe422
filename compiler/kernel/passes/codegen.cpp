#include "compiler/kernel/passes/codegen.h"

#include <algorithm>

#include "compiler/kernel/ir/visit.h"

namespace rondo::kernel {

bool exclusive(const Kernel& kernel, const Param& param) {
  return !param.written || (!kernel.cooperative && kernel.cluster == 1);
}

bool counts_vain_waits(const Kernel& kernel) {
  return kernel.cluster > 1 && kernel.status >= 0 && !kernel.mbarriers.empty();
}

std::set<ArrayId> accumulators(const Kernel& kernel) {
  std::set<ArrayId> arrays;
  for_each_statement(kernel.body, [&](const Stmt& stmt) {
    if (const auto* mma = std::get_if<WarpgroupMma>(&stmt.node)) arrays.insert(mma->acc.array);
  });
  return arrays;
}

int shared_alignment(const std::vector<const Kernel*>& kernels) {
  constexpr int kWidestAccess = 16, kPanel = 1024;
  const bool panels =
      std::ranges::any_of(kernels, [](const Kernel* kernel) { return !accumulators(*kernel).empty(); });
  return panels ? kPanel : kWidestAccess;
}

Storage storage_of(const Kernel& kernel, const MemRef& place) {
  const auto id = static_cast<std::size_t>(place.id);
  return place.space == Space::Global ? kernel.params[id].storage : kernel.shared[id].storage;
}

bool streaming(const Kernel& kernel, const MemRef& place, CacheHint hint, bool load) {
  if (hint != CacheHint::Streaming || place.space != Space::Global) return false;
  return !load || !kernel.params[static_cast<std::size_t>(place.id)].written;
}

int panel_elements(const PanelOperand& operand) {
  constexpr int kNone = 8;
  return std::max(operand.panel, kNone);
}

}  // namespace rondo::kernel
