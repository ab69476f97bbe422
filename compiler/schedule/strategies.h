// Every strategy of this version.
#pragma once

#include <string>
#include <vector>

#include "compiler/schedule/plan/strategy.h"

namespace rondo::schedule {

// In order of preference; the list is made by rondo_strategies() in CMakeLists.txt.
const std::vector<const Strategy*>& strategies();
const Strategy* find_strategy(const std::string& name);  // nullptr if unknown

}  // namespace rondo::schedule
