// A named barrier is there for those who wait at it.
#include <fmt/format.h>

#include <map>

#include "compiler/kernel/verify/parts.h"

namespace rondo::kernel {

namespace {

// Whether anybody waits at a barrier, by its number.
void find_waits(const Body& body, std::map<int, bool>& waits) {
  for (const Stmt& stmt : body) {
    if (const auto* barrier = std::get_if<Barrier>(&stmt.node); barrier != nullptr && barrier->threads > 0)
      waits[barrier->id] |= barrier->waits;
    if (const auto* loop = std::get_if<For>(&stmt.node)) find_waits(loop->body, waits);
    if (const auto* branch = std::get_if<If>(&stmt.node)) {
      find_waits(branch->then_body, waits);
      find_waits(branch->else_body, waits);
    }
  }
}

}  // namespace

void verify_named_barriers(const Kernel& kernel, Findings& findings) {
  std::map<int, bool> waits;
  find_waits(kernel.body, waits);
  for (const auto& [id, any] : waits)
    if (!any) findings.add(fmt::format("nobody waits at barrier {}", id));
}

}  // namespace rondo::kernel
