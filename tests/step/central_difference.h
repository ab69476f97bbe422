// Derivatives by central differences that know how far they can be trusted.
#pragma once

#include <functional>
#include <vector>

namespace rondo::step::testing {

// A derivative measured, and a bound of its error. Not usable where the function has a kink or a jump within
// the step, or is too curved for it: there is nothing to compare with.
struct Measured {
  double value = 0;
  double error = 0;
  bool usable = false;
};

// Derivatives of several functions of one variable at once: `evaluate(dx)` gives their values at x + dx, and
// `magnitude` the sum of magnitudes that each value was added up from. With step h:
//   truncation: the differences of step h and 2h, D(h) and D(2h), differ by three times the h^2 term of D(h);
//   the bound takes
//               all of |D(h) - D(2h)|
//   rounding:   each value is off by at most kRoundings * epsilon * magnitude, divided by h
// A kink shows as one-sided differences that disagree by more than a smooth function of moderate curvature
// can.
std::vector<Measured> central_differences(const std::function<std::vector<double>(double)>& evaluate,
                                          const std::vector<double>& magnitude);

}  // namespace rondo::step::testing
