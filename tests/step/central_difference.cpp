#include "tests/step/central_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rondo::step::testing {

namespace {

// h balances truncation (h^2) against rounding (epsilon / h) at about cbrt(epsilon) = 6e-6.
constexpr double kStep = 1e-5;
// Roundings that a value has gone through, each possibly amplified by the graph's condition: tens of nodes,
// three steps.
constexpr double kRoundings = 1000;
// One-sided differences of a smooth function differ by h |f''|: this allows |f''| up to 1000 times |f'| or 1.
constexpr double kKink = 1000 * kStep;

}  // namespace

std::vector<Measured> central_differences(const std::function<std::vector<double>(double)>& evaluate,
                                          const std::vector<double>& magnitude) {
  const std::vector<double> at = evaluate(0), right = evaluate(kStep), left = evaluate(-kStep);
  const std::vector<double> far_right = evaluate(2 * kStep), far_left = evaluate(-2 * kStep);
  std::vector<Measured> result(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double near = (right[i] - left[i]) / (2 * kStep);
    const double far = (far_right[i] - far_left[i]) / (4 * kStep);
    const double one_sided = std::abs(right[i] - 2 * at[i] + left[i]) / kStep;
    const double rounding = kRoundings * std::numeric_limits<double>::epsilon() * magnitude[i] / kStep;
    result[i].value = near;
    result[i].error = std::abs(near - far) + rounding;
    const double scale = std::max(1.0, std::abs(near));
    result[i].usable = one_sided < kKink * scale && result[i].error < 1e-4 * scale;
  }
  return result;
}

}  // namespace rondo::step::testing
