// Every strategy there is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/schedule/plan/strategy.h"
#include "compiler/support/registry.h"

namespace rondo::schedule {

// The built-in ones, in order of preference (rondo_strategies() in CMakeLists.txt makes the list), and those
// that the program has added: Registration<const Strategy*> mine(strategy_registry(), &strategy).
Registry<const Strategy*>& strategy_registry();
inline const std::vector<const Strategy*>& strategies() { return strategy_registry().all(); }
const Strategy* find_strategy(const std::string& name);  // nullptr if unknown
// Strategy::turn() of a strategy's point; 1 if it is unknown.
std::int64_t turn_of(const std::string& strategy, const Parameters& parameters);

}  // namespace rondo::schedule
