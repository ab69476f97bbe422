// The check at the full shape on a device.
#pragma once

#include <optional>

#include "compiler/schedule/problem/task.h"
#include "engine/check/at_shape.h"
#include "engine/check/plain.h"
#include "runtime/device/device.h"
#include "tuning_db/database.h"

namespace rondo::engine {

// The plain plans with their code (PlainPlans).
struct PlainCode {
  executable::Executable same, perturbed;
  std::optional<executable::Executable> forward;
};

// Compiles plain plans, at the same time where the machine has cores for it. Code is taken from `database`
// (null: none) and kept there, as any other. Errors: those of compile_plan().
Result<PlainCode> compile_plain(PlainPlans plans, db::Database* database);

// check_at_shape() of a loaded kernel of the problem. Where memory is short or the plain runs would take more
// than some seconds, batch rows are cut, and then steps; the line for people says so. `device` has loaded
// `kernel`. Errors: those of check_at_shape(); Device where a kernel fails; Unsupported where there is no
// memory for a single step.
Result<Verification> verify_at_shape(const schedule::Task& task, const runtime::Device& device,
                                     const runtime::LoadedPlan& kernel, const PlainCode& plain,
                                     std::uint64_t seed, const Given& given = nullptr);

}  // namespace rondo::engine
