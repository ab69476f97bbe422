// How a step is rewritten before it is emitted, as a parameter of strategies.
#pragma once

#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// Latency shortens the dependent chain from carry to carry (shorten_chain.h), Throughput saves instructions
// (fold_parameters.h). Neither is best everywhere. Rounding changes: for kernel::Math::Fast.
enum class Rewrite { None, Latency, Throughput };

step::StepGraph rewritten(const Task& task, step::StepGraph step, Rewrite how);

}  // namespace rondo::schedule
