#include "engine/figures/axis.h"

#include <algorithm>
#include <cmath>

namespace rondo::figures {
namespace {

constexpr double kAir = 0.06;      // of a logarithmic axis, at both ends
constexpr double kShortest = 0.5;  // decades of a logarithmic axis
constexpr double kSteps[] = {1, 2, 5, 10};

// Multiples of 1, 2 or 5 times a power of ten.
std::vector<double> even_ticks(double low, double high, int most) {
  const double rough = (high - low) / std::max(most, 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double each : kSteps)
    if (each * power >= rough * 0.999) {
      step = each * power;
      break;
    }
  std::vector<double> ticks;
  for (double n = std::ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; ++n)
    ticks.push_back(n * step + 0.0);  // no -0
  return ticks;
}

// Those of the mantissas within the ends, of every n-th decade.
std::vector<double> log_ticks(double low, double high, const std::vector<double>& mantissas, int each = 1) {
  std::vector<double> ticks;
  for (int decade = static_cast<int>(std::floor(std::log10(low))); std::pow(10.0, decade) <= high; ++decade)
    if (decade % each == 0)
      for (const double mantissa : mantissas)
        if (const double tick = mantissa * std::pow(10.0, decade);
            tick >= low * 0.999 && tick <= high * 1.001)
          ticks.push_back(tick);
  return ticks;
}

}  // namespace

double Axis::at(double value) const {
  double share = 0;
  if (spacing == Spacing::Linear)
    share = (value - low) / (high - low);
  else if (value > 0)
    share = std::log(value / low) / std::log(high / low);
  if (!std::isfinite(share)) share = 0;
  return from + std::clamp(share, 0.0, 1.0) * (to - from);
}

std::vector<double> Axis::ticks(int most) const {
  if (spacing == Spacing::Linear) return even_ticks(low, high, most);
  const auto limit = static_cast<std::size_t>(std::max(most, 2));
  for (const std::vector<double>& mantissas : {std::vector<double>{1, 2, 5}, {1, 3}, {1}})
    if (const std::vector<double> ticks = log_ticks(low, high, mantissas); ticks.size() <= limit) {
      if (ticks.size() >= 3) return ticks;
      break;
    }
  if (std::log10(high / low) < 1.2) return even_ticks(low, high, std::min(most, 5));
  for (int each = 1;; ++each)
    if (std::vector<double> ticks = log_ticks(low, high, {1}, each); ticks.size() <= limit) return ticks;
}

void fit(Axis& axis, const std::vector<double>& values) {
  const bool log = axis.spacing == Spacing::Log;
  std::vector<double> usable;
  for (const double value : values)
    if (std::isfinite(value) && (!log || value > 0)) usable.push_back(value);
  if (usable.empty()) {
    axis.low = log ? 0.1 : 0;
    axis.high = 1;
    return;
  }
  const auto [least, most] = std::ranges::minmax(usable);
  if (!log) {
    axis.low = std::min(least, 0.0);
    axis.high = most > axis.low ? most : axis.low + 1;
    return;
  }
  const double middle = (std::log10(least) + std::log10(most)) / 2;
  const double half = std::max(std::log10(most / least) * (0.5 + kAir), kShortest / 2);
  axis.low = std::pow(10.0, middle - half);
  axis.high = std::pow(10.0, middle + half);
}

}  // namespace rondo::figures
