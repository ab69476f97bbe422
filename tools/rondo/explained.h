// One pass of a problem explained, as `rondo why` prints it and `rondo report` draws it.
#pragma once

#include <optional>

#include "compiler/schedule/problem/task.h"
#include "tools/rondo/options/options.h"
#include "tuner/why/why.h"
#include "tuning_db/database.h"

namespace rondo::tools {

struct Explained {
  schedule::Task task;
  tuner::Explanation why;
  std::optional<db::Database> database;  // that the choice may come from
};

// Measured where the machine is here and the options do not say by_model. Errors: those of the request and of
// tuner::explain().
Result<Explained> explained(const Options& asked);

}  // namespace rondo::tools
