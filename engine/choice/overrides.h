// A choice of which the user has fixed a part.
#pragma once

#include <string>

#include "compiler/schedule/problem/task.h"
#include "engine/choice/choose.h"

namespace rondo::engine {

// What a user fixes of the choice; the rest is the database's or the model's.
struct Overrides {
  std::string strategy;             // empty: any
  schedule::Parameters parameters;  // those that must have these values
  bool empty() const { return strategy.empty() && parameters.empty(); }
};

// The best choice that agrees with the overrides. Errors: Input (an unknown strategy or parameter, or values
// that contradict each other or the GPU's limits), and those of choose().
Result<Choice> choose_with(const schedule::Task& task, const Overrides& overrides,
                           const ChooseOptions& options = {});

}  // namespace rondo::engine
