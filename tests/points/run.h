// A point from its parameters to its results: built, verified, its resources checked, simulated, compared.
#pragma once

#include <string>
#include <vector>

#include "tests/points/point.h"

namespace rondo::points {

struct Outcome {
  std::vector<std::string> complaints;  // empty: all is well
  bool compared = false;                // false: no integers were found that stay exact
  int parts = 0;                        // of the launch with the most of them
  double seconds = 0;                   // of the simulation
};

Outcome run_point(const Point& point);

}  // namespace rondo::points
