#include "compiler/schedule/problem/task.h"

#include <utility>

#include "compiler/step/simplify.h"
#include "compiler/step/verify.h"

namespace rondo::schedule {

Task::Task(step::Cell as_written, Problem of, target::Profile on, pipeline::PassWatcher* by)
    : written(std::move(as_written)),
      cell(pipeline::watched(
          by, pipeline::Pass::Simplify, [&] { return step::simplify(written); },
          [](const step::Cell& simple) { return step::made(simple); })),
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
