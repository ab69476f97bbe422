// Statistics of repeated timings. Medians and percentiles: a busy machine makes means meaningless.
#pragma once

#include <vector>

namespace rondo::engine {

// All in the samples' unit; of an empty list 0.
double median(std::vector<double> samples);
double quantile(std::vector<double> samples, double share);  // share in [0, 1], linear between neighbours

struct Timing {
  double median_s = 0;
  double spread = 0;  // (90th - 10th percentile) / median: in every output and in the database
  int samples = 0;
};
Timing timing_of(const std::vector<double>& seconds);

}  // namespace rondo::engine
