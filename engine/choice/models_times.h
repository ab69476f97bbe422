// What the cost models of this version say of recorded trials.
#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"
#include "tuning_db/database.h"

namespace rondo::engine {

// Milliseconds of each trial of a problem by the model of its strategy. None for a trial of a strategy or
// with parameters that this version does not offer for the problem on this device, and for all of a problem
// that it refuses (check_problem): what a file says of its sizes may be anything.
std::vector<std::optional<double>> models_times(const schedule::Task& task,
                                                const std::vector<db::Trial>& trials);

}  // namespace rondo::engine
