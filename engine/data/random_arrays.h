// Random arrays of a cell, for whoever wants to run it and has none.
#pragma once

#include <cstdint>

#include "compiler/schedule/problem/task.h"
#include "engine/arrays/run_arrays.h"

namespace rondo::engine {

// What random_problem() draws for the task's sizes, as the arrays of a run: all inputs, parameters and first
// states, and the flags of the cell's forms. The seed of a cell's draws is left out (set_seed()). Past the
// end of a row inputs are zero. Errors: those of random_problem(), and Memory where this machine cannot hold
// them.
Result<RunArrays> random_arrays(const schedule::Task& task, std::uint64_t seed);

}  // namespace rondo::engine
