#include "compiler/schedule/problem/task.h"

#include <utility>

#include "compiler/step/simplify.h"

namespace rondo::schedule {

Task::Task(step::Cell as_written, Problem of, target::Profile on, pipeline::PassWatcher* by)
    : written(std::move(as_written)),
      cell(step::simplified(written, by)),
      structure(step::structure_of(cell)),
      problem(std::move(of)),
      profile(std::move(on)),
      watcher(by) {}

Task Task::with(Problem other) const {
  Task result = *this;
  result.problem = std::move(other);
  return result;
}

}  // namespace rondo::schedule
