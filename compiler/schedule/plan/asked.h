// What a plan was asked for, as one hash.
#pragma once

#include <string>

#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// SHA-256, 64 hex digits, over all that Strategy::build() is given beside its parameters, names of values
// included: the cell, the problem, the GPU's profile. With the same build of the program, strategy and
// parameters it decides the plan. B and T are in it, though a call is free to use others: products over all
// steps are divided as the problem's sizes say.
std::string asked_hash(const Task& task);

}  // namespace rondo::schedule
