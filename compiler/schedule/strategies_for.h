// The strategies that a target may be offered.
#pragma once

#include <vector>

#include "compiler/schedule/plan/strategy.h"

namespace rondo::schedule {

// Those for CPUs where `profile` is one of CPUs, else those for GPUs; in order of preference.
std::vector<const Strategy*> strategies_for(const target::Profile& profile);

}  // namespace rondo::schedule
