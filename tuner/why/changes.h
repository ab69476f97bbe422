// What would make a problem's kernel faster or slower, by model: other sizes, types, things saved,
// strategies.
#pragma once

#include <string>
#include <vector>

#include "compiler/schedule/problem/task.h"

namespace rondo::tuner {

struct Change {
  std::string what;            // "B=32", "--dtype bf16", "--save products", "--strategy alternating"
  bool other_problem = false;  // computes something else: other sizes or another type
  double times = 1;            // the model's time for its best kernel then, over that for its best one now
  double times_a_row = 1;      // the same for each batch row
};

// Those that the problem has, in a fixed order; one that no kernel computes is left out. Nothing is measured.
std::vector<Change> changes(const schedule::Task& task, const std::string& strategy);

}  // namespace rondo::tuner
