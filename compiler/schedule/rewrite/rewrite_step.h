// How a step is rewritten before it is emitted, as a parameter of strategies.
#pragma once

#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

step::StepGraph rewritten(const Task& task, step::StepGraph step, Rewrite how);

}  // namespace rondo::schedule
