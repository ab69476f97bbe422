// Plans that can be asked and not launched: what a plan would be, before anything is compiled.
#pragma once

#include <memory>

#include "compiler/schedule/problem/task.h"
#include "runtime/capi/launch/plan.h"
#include "tools/librondo/reference_plan.h"

namespace rondo::capi {

// The plan of an executable without code: all but launches. Errors: those of Launcher::make().
Result<std::unique_ptr<PlanObject>> outline_of(std::shared_ptr<const Device> device,
                                               const executable::Executable& executable, PlanFacts facts);

// The tensors that plans of the problem may have, on any device: of no choice, so its workspace is not known.
// Errors: those of reference_executable().
Result<std::unique_ptr<PlanObject>> outline_of_any(const schedule::Task& task);

}  // namespace rondo::capi
