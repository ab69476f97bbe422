// Code of others compared with the reference, in a process that may crash or be killed.
#pragma once

#include <string>

#include "compiler/executable/executable.h"
#include "compiler/schedule/problem/task.h"
#include "engine/trust/trust.h"

namespace rondo::tuner {

// Loads, runs and verifies the executable in a trial process (process.h) on the task's machine; nothing of it
// is loaded here. A trial process keeps errors away, not malice: what runs there may do whatever its user may
// do. `worker` is the program of the process, "" this one. Errors: Missing (none can be started), those of
// the trial. `given`: what of the data is not random.
Result<engine::Compared> verify_alone(const schedule::Task& task, const executable::Executable& executable,
                                      std::int64_t turn, const std::string& worker = "",
                                      const engine::Given& given = nullptr);

}  // namespace rondo::tuner
