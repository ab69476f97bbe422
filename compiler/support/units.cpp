#include "compiler/support/units.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace rondo {

std::string digits(double value) {
  return std::abs(value) >= 99.95 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string with_prefix(double value, const std::string& unit) {
  const std::pair<double, const char*> prefix = value >= 999.5e9   ? std::pair(1e12, "T")
                                                : value >= 999.5e6 ? std::pair(1e9, "G")
                                                : value >= 999.5e3 ? std::pair(1e6, "M")
                                                                   : std::pair(1e3, "k");
  return fmt::format("{} {}{}", digits(value / prefix.first), prefix.second, unit);
}

std::string duration(double seconds) {
  if (seconds == 0 || !std::isfinite(seconds)) return "0";
  const double size = std::abs(seconds);
  const std::pair<double, const char*> unit = size >= 0.9995      ? std::pair(1.0, "s")
                                              : size >= 0.9995e-3 ? std::pair(1e-3, "ms")
                                              : size >= 0.9995e-6 ? std::pair(1e-6, "µs")
                                                                  : std::pair(1e-9, "ns");
  return fmt::format("{} {}", digits(seconds / unit.first), unit.second);
}

std::string percent(double share) {
  const double value = share * 100;
  return value != 0 && std::abs(value) < 9.95 ? fmt::format("{:.1f}%", value) : fmt::format("{:.0f}%", value);
}

std::string times(double factor) {
  return factor < 9.95 ? fmt::format("{:.2f}×", factor) : fmt::format("{:.0f}×", factor);
}

std::string plain(double value) { return fmt::format("{:g}", value); }

}  // namespace rondo
