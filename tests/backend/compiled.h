// Kernels compiled for an architecture as plans are, for tests of what the compiler makes of them.
#pragma once

#include <string>
#include <vector>

#include "compiler/backend/backends.h"

namespace rondo::backend {

inline Result<Compiled> compile_kernels(const std::vector<const kernel::Kernel*>& kernels,
                                        const std::string& arch, std::string name = "test.cu") {
  return compile(request_for(preferred_backend(), kernels, *target::find_target(arch), std::move(name)));
}

}  // namespace rondo::backend
