// Names and expressions of KernelIR as text, shared by the printers of statements and kernels.
#pragma once

#include <string>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

const char* type_name(Type type);  // "pred", "i32", "i64", "f32", "f64"
std::string register_name(const Kernel& kernel, RegId reg);
std::string array_name(const Kernel& kernel, ArrayId array);
std::string memory_name(const Kernel& kernel, Space space, int id);
std::string mbarrier_name(const Kernel& kernel, MbarrierId id);

}  // namespace rondo::kernel
