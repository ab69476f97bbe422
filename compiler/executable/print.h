// What an executable launches, as text for people: `rondo emit --stage launches`.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/executable/executable.h"
#include "compiler/support/result.h"

namespace rondo::executable {

// Its identity, its tensors with their rules, the workspace, and every launch of a call with B batch rows of
// T steps, by the launch walk: kernel, grid, block, cluster, dynamic shared memory and arguments. Launches
// that repeat are shown twice and then counted. Errors: those of Launcher.
Result<std::string> print_launches(const Executable& executable, std::int64_t batch, std::int64_t time);

// How to launch its kernels by hand, for any B and T: a line for each launch, in order, with kernel, grid
// rule, block, cluster, dynamic shared memory, how often it runs and its arguments.
std::string print_rules(const Executable& executable);

}  // namespace rondo::executable
