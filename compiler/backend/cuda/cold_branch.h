// Cold branches (If::cold) as functions of their own, which are not inlined: the assembler then schedules the
// kernel's loops as if the branch were not there. A branch inlined behind a loop cost that loop up to 5%.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/ir/ir.h"

namespace rondo::backend::cuda {

// What the body of a cold branch takes from the kernel around it, and gives back.
struct ColdBranch {
  std::string function;  // its name
  const kernel::Body* body = nullptr;
  std::vector<kernel::ParamId> params;
  std::vector<kernel::RegId> reads;    // values, but for those it assigns
  std::vector<kernel::RegId> assigns;  // variables
};

// Nothing where the body cannot stand in a function: it uses shared memory, an array of registers from
// outside, or an instruction that threads run together.
std::optional<ColdBranch> cold_branch(const kernel::Kernel& kernel, const kernel::Body& body);

}  // namespace rondo::backend::cuda
