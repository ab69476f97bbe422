#include "compiler/kernel/verify/verify.h"

#include "compiler/kernel/verify/parts.h"

namespace rondo::kernel {

std::vector<std::string> verify(const Kernel& kernel) {
  Findings findings;
  for (const auto part : {verify_tables, verify_statements, verify_units, verify_arrays, verify_barriers,
                          verify_named_barriers}) {
    part(kernel, findings);
    if (!findings.empty()) break;
  }
  return findings.take();
}

}  // namespace rondo::kernel
