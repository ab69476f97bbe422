#include "engine/check/rows_apart.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <set>

#include "compiler/support/parallel_for.h"

namespace rondo::engine {

namespace {

constexpr std::int64_t kChunk = std::int64_t{1} << 24;  // elements of each side that are read at once
constexpr std::int64_t kMostRows = 2048, kFewestRows = 16;
constexpr std::int64_t kMostLast = 64;  // batch rows whose last steps are taken

}  // namespace

Result<RowsApart> rows_apart(ShapeRuns& runs, const ShapeTensor& tensor) {
  RowsApart apart;
  apart.difference.resize(static_cast<std::size_t>(tensor.rows));
  apart.size.resize(apart.difference.size());
  std::atomic<std::int64_t> kernel_not_finite{0}, plain_not_finite{0};
  const std::int64_t chunk = std::max<std::int64_t>(1, kChunk / tensor.unit);
  const auto unit = static_cast<std::size_t>(tensor.unit);
  for (std::int64_t first = 0; first < tensor.rows; first += chunk) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(std::min(chunk, tensor.rows - first)));
    std::iota(rows.begin(), rows.end(), first);
    std::vector<double> kernel(rows.size() * unit), plain(kernel.size());
    if (Status status = runs.read(ShapeRuns::Side::Kernel, tensor.ref, rows, kernel); !status)
      return status.error();
    if (Status status = runs.read(ShapeRuns::Side::Plain, tensor.ref, rows, plain); !status)
      return status.error();
    const auto one_row = [&](std::int64_t row) {
      double difference = 0, size = 0;
      std::int64_t odd_kernel = 0, odd_plain = 0;
      for (std::size_t i = static_cast<std::size_t>(row) * unit, end = i + unit; i < end; ++i) {
        odd_kernel += !std::isfinite(kernel[i]);
        odd_plain += !std::isfinite(plain[i]);
        const double off = kernel[i] - plain[i];
        difference += off * off;
        size += plain[i] * plain[i];
      }
      const auto at = static_cast<std::size_t>(first + row);
      apart.difference[at] = static_cast<float>(std::sqrt(difference));
      apart.size[at] = static_cast<float>(std::sqrt(size));
      if (odd_kernel > 0) kernel_not_finite += odd_kernel;
      if (odd_plain > 0) plain_not_finite += odd_plain;
    };
    parallel_for(static_cast<std::int64_t>(rows.size()), 0, [&]() -> Worker { return one_row; });
  }
  apart.kernel_not_finite = kernel_not_finite;
  apart.plain_not_finite = plain_not_finite;
  return apart;
}

std::vector<std::int64_t> rows_to_compare(const ShapeTensor& tensor, const RowsApart& apart,
                                          const step::Sizes& sizes, std::uint64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(tensor.rows));
  std::iota(order.begin(), order.end(), 0);
  const std::int64_t most = std::clamp(kMostWhole / tensor.unit, kFewestRows, kMostRows);
  if (tensor.rows <= most || tensor.rows * tensor.unit <= kMostWhole) return order;
  std::set<std::int64_t> chosen = {0, tensor.rows - 1};
  if (executable::has_time_axis(tensor.ref.role))
    for (std::int64_t b = 0; b < std::min({sizes.batch, kMostLast, most / 4}); ++b)
      chosen.insert((sizes.batch - b) * sizes.time - 1);
  const auto take_furthest = [&](const std::function<double(std::int64_t)>& distance) {
    const auto count = order.begin() + most / 4;
    std::partial_sort(order.begin(), count, order.end(), [&](std::int64_t a, std::int64_t b) {
      const double of_a = distance(a), of_b = distance(b);
      return of_a != of_b ? of_a > of_b : a < b;
    });
    chosen.insert(order.begin(), count);
  };
  // What is no number is counted, and orders nothing.
  const auto ordered = [](double value) { return std::isnan(value) ? HUGE_VAL : value; };
  take_furthest([&](std::int64_t row) {
    return ordered(static_cast<double>(apart.difference[static_cast<std::size_t>(row)]));
  });
  take_furthest([&](std::int64_t row) {
    const auto at = static_cast<std::size_t>(row);
    return ordered(static_cast<double>(apart.difference[at]) /
                   std::max(static_cast<double>(apart.size[at]), 1e-30));
  });
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::int64_t> any(0, tensor.rows - 1);
  while (static_cast<std::int64_t>(chosen.size()) < most) chosen.insert(any(random));
  return {chosen.begin(), chosen.end()};
}

}  // namespace rondo::engine
