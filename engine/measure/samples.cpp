#include "engine/measure/samples.h"

#include <algorithm>
#include <cmath>

namespace rondo::engine {

namespace {

double sorted_quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double quantile(std::vector<double> samples, double share) {
  std::ranges::sort(samples);
  return sorted_quantile(samples, share);
}

double median(std::vector<double> samples) { return quantile(std::move(samples), 0.5); }

Timing timing_of(const std::vector<double>& seconds) {
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  Timing timing;
  timing.samples = static_cast<int>(sorted.size());
  timing.median_s = sorted_quantile(sorted, 0.5);
  if (timing.median_s <= 0) return timing;
  timing.spread = (sorted_quantile(sorted, 0.9) - sorted_quantile(sorted, 0.1)) / timing.median_s;
  return timing;
}

}  // namespace rondo::engine
