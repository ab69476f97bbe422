#include "compiler/schedule/problem/task.h"

#include <utility>

#include "compiler/step/simplify.h"

namespace rondo::schedule {

Task::Task(step::Cell as_written, Problem of, target::Profile on)
    : written(std::move(as_written)),
      cell(step::simplify(written)),
      problem(std::move(of)),
      profile(std::move(on)) {}

Task Task::with(Problem other) const {
  Task result = *this;
  result.problem = std::move(other);
  return result;
}

}  // namespace rondo::schedule
