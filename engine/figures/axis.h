// Axes: from values to pixels, and the ticks between.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace rondo::figures {

enum class Spacing { Linear, Log };

struct Axis {
  std::string title;  // with the unit
  Spacing spacing = Spacing::Linear;
  double low = 0, high = 1;                  // values at the ends; of Log both above zero
  double from = 0, to = 1;                   // pixels there
  std::function<std::string(double)> label;  // of a tick

  double at(double value) const;  // pixels; values beyond the ends stay on the ends
  // At most about `most` round values: of Log decades, or 1, 2 and 5 of each, or steps as of Linear where the
  // axis is short.
  std::vector<double> ticks(int most) const;
};

// The ends widened to hold all values with some air, of Linear from zero where no value is below. Values that
// an axis cannot have (no numbers; of Log zero and below) do not count; where none is left the axis goes from
// 0.1 to 1 or from 0 to 1.
void fit(Axis& axis, const std::vector<double>& values);

}  // namespace rondo::figures
