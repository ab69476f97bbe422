#include "tuner/check/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/scalar/storage.h"

namespace rondo::tuner {

namespace {

// The plain loop's error is partly luck: a kernel that rounds at other places may be worse by half
// (docs/tuning.md, Verifying) and, on the single worst element, by more.
constexpr double kOverLoop = 1.5;
constexpr double kOverLoopWorst = 4;

// Units of roundoff that even a lucky loop does not take away. fp32: accurate functions are within a few ulp
// each.
double floor_of(kernel::Storage storage) {
  return (storage == kernel::Storage::F32 ? 8 : 2) * scalar::unit_roundoff(storage);
}

struct Distance {
  double norm = 0;   // ||a - b|| / ||b||
  double worst = 0;  // max |a - b| / max |b|
};

template <class Real>
Distance distance(std::span<const Real> out, std::span<const double> exact) {
  double difference = 0, size = 0, worst = 0, largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double d = std::abs(static_cast<double>(out[i]) - exact[i]);
    difference += d * d;
    size += exact[i] * exact[i];
    worst = std::max(worst, d);
    largest = std::max(largest, std::abs(exact[i]));
  }
  return {std::sqrt(difference) / (size > 0 ? std::sqrt(size) : 1), worst / (largest > 0 ? largest : 1)};
}

}  // namespace

TensorCheck compare(std::string name, kernel::Storage storage, std::span<const double> out,
                    std::span<const double> exact, std::span<const float> loop) {
  TensorCheck check;
  check.name = std::move(name);
  for (const double value : out) check.not_finite += !std::isfinite(value);
  const Distance kernel = distance(out, exact);
  const Distance plain = distance(loop, exact);
  check.error = kernel.norm;
  check.worst = kernel.worst;
  check.loop_error = plain.norm;
  check.limit = kOverLoop * plain.norm + floor_of(storage);
  check.worst_limit = kOverLoopWorst * plain.worst + 2 * floor_of(storage);
  check.passed = out.size() == exact.size() && check.not_finite == 0 && check.error <= check.limit &&
                 check.worst <= check.worst_limit;
  return check;
}

std::string TensorCheck::text() const {
  std::string result =
      fmt::format("{}: error {:.2e} (limit {:.2e}, plain loop {:.2e})", name, error, limit, loop_error);
  if (unwritten > 0) result += fmt::format(", {} elements never written", unwritten);
  if (not_finite > unwritten) result += fmt::format(", {} elements not finite", not_finite - unwritten);
  if (gap_writes > 0) result += fmt::format(", {} elements written outside the tensor", gap_writes);
  if (!(worst <= worst_limit))
    result += fmt::format(", worst element {:.2e} (limit {:.2e})", worst, worst_limit);
  return result + (where.empty() ? "" : " at " + where) + (passed ? "" : ": WRONG");
}

}  // namespace rondo::tuner
