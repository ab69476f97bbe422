// KernelIR as indented text, for `rondo emit --stage kernel`, golden files and messages.
#pragma once

#include <string>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

std::string print(const Kernel& kernel);
std::string print(const Kernel& kernel, ExprId expression);
// One statement on one line without its nested bodies ("for i in 0..n step 1"), as messages name it.
std::string print(const Kernel& kernel, const Stmt& stmt);
// All of these accept kernels that verify() rejects: what is out of range prints as <register 7?>.

}  // namespace rondo::kernel
