// Which parameters of a strategy explain how its candidates' times differ.
#pragma once

#include <string>
#include <vector>

#include "compiler/schedule/problem/parameters.h"

namespace rondo::tuner {

struct TimedPoint {
  schedule::Parameters parameters;
  double seconds = 0;
};

struct ExplainedSpread {
  std::string parameter;
  double share = 0;  // of the spread, 0 to 1
  int values = 0;
};

// Of each parameter that has several values among the points, the share of the variance of log(seconds) that
// its values explain: epsilon squared (Kelley: An unbiased correlation ratio measure, PNAS 1935), which takes
// off what groups of so many values explain by chance; no less than zero. The largest first. Points without a
// time above zero do not count. Empty where fewer than eight do, or where all take the same time.
std::vector<ExplainedSpread> explained_spread(const std::vector<TimedPoint>& points);

}  // namespace rondo::tuner
