// Statistics of repeated timings. Medians and quartiles: a busy machine makes means meaningless.
#pragma once

#include <vector>

namespace rondo::tuner {

// All in the samples' unit; of an empty list 0.
double median(std::vector<double> samples);
double quantile(std::vector<double> samples, double share);  // share in [0, 1], linear between neighbours

struct Timing {
  double median_s = 0;
  double quartile_spread = 0;  // (75th - 25th percentile) / median
  double decile_spread = 0;    // (90th - 10th percentile) / median: what the database stores
  int samples = 0;
};
Timing timing_of(const std::vector<double>& seconds);

}  // namespace rondo::tuner
