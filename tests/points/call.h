// The sizes that a point is called with: those at which a mistake shows, as far as the simulator can afford
// them.
#pragma once

#include "tests/points/point.h"

namespace rondo::points {

// Draws Point::call. False if even one row and two steps would take too long.
bool draw_call(Random& random, Point& point);

// What the simulator will take for it, in microseconds, more or less.
double simulated_us(const Point& point, std::int64_t batch, std::int64_t time);

}  // namespace rondo::points
