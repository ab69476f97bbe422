// Any stage on the way from cell to kernel as text: `rondo emit`.
#pragma once

#include <string>

#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/support/result.h"
#include "engine/choice/overrides.h"
#include "engine/request/load_cell.h"

namespace rondo::engine {

struct EmitRequest {
  const CellFile* file = nullptr;  // parsed without errors
  // Of one of its cells; the problem counts for Kernel and later stages only. Its watcher, if it has one, is
  // told of the passes on the way to the stage; the choice of a kernel is none.
  schedule::Task task;
  Overrides overrides;
  ChooseOptions choosing;
};

// Ends with a line break. A text of CUDA or LLVM IR begins with a comment and an empty line: what it
// computes, the command that compiles it, and how each kernel is launched. Neither is part of what plans
// compile and caches know. Errors: Unsupported (no Jacobian of a dense cell, no legal strategy), those of
// choose_with() and, for Ptx, of backend::Backend::assembly(), for Object of its compile(); Input where
// Object is not for CPUs.
Result<std::string> emit_stage(pipeline::Stage stage, const EmitRequest& request);

}  // namespace rondo::engine
