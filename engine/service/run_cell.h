// One forward pass over the caller's arrays: with a kernel that is ready on a device, or on the reference
// executor.
#pragma once

#include <optional>
#include <string>

#include "compiler/schedule/problem/task.h"
#include "compiler/step/reference/executor.h"
#include "engine/arrays/run_arrays.h"
#include "runtime/device/device.h"

namespace rondo::engine {

struct CellRun {
  step::TensorMap<double> outputs;                     // by the output's name, rounded to the storage type
  step::TensorMap<double> last_states;                 // by the state's name, fp32 or fp64
  std::optional<executable::Convergence> convergence;  // of a kernel that iterates
  std::string where;                                   // Answer::where(), which the caller knows
};

// The task's problem is a Forward one of the arguments' sizes. Errors: Input.
Result<CellRun> run_on_reference(const schedule::Task& task, const step::ForwardArguments<double>& arguments);

// Of no rows or no steps: outputs without an element, and the first states as the last ones.
CellRun run_of_nothing(const schedule::Task& task, const step::ForwardArguments<double>& arguments);

// Runs a plan of the problem that the device has loaded once and waits. The arrays are those that
// check_arrays() and set_seed() were given. Error Device; Wrong where the kernel left results unwritten.
Result<CellRun> run_on_device(const schedule::Task& task, const RunArrays& arrays,
                              const runtime::Device& device, const runtime::LoadedPlan& plan);

}  // namespace rondo::engine
