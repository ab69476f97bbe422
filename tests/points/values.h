// What a point's tensors hold, and what the pass must make of them by the reference executor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/plan/simulate_plan.h"
#include "tests/points/point.h"

namespace rondo::points {

struct Expected {
  schedule::TensorRef ref;
  std::string name;
  std::vector<double> values;
  // The most by which the result may differ, by norm and relative to it; none: not by a bit.
  std::optional<double> allowed;
};

struct Values {
  schedule::TensorValues given;
  std::vector<Expected> expected;  // of every result of the pass
};

// Of an exact point, integers so small that no sum and no stored value is rounded, whatever its order; none
// where such were not found. Initial states are never zero. Others: as tests/schedule/comparison.h draws and
// bounds them.
std::optional<Values> draw_values(const Point& point);

}  // namespace rondo::points
