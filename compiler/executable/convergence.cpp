#include "compiler/executable/convergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace rondo::executable {

Convergence convergence_of(std::span<const float> records) {
  Convergence all;
  for (std::size_t i = 0; i + Convergence::kRecord <= records.size(); i += Convergence::kRecord) {
    const auto sweeps = static_cast<std::int64_t>(records[i]);
    all.sweeps = std::max(all.sweeps, sweeps);
    all.extra_sweeps += std::max<std::int64_t>(sweeps - 1, 0);
    all.segments_in_order += static_cast<std::int64_t>(records[i + 1]);
    const double jump =
        records[i + 2] < Convergence::kLost ? records[i + 2] : std::numeric_limits<double>::infinity();
    all.worst_jump = std::max(all.worst_jump, jump);
    ++all.segments;
  }
  return all;
}

std::string describe(const Convergence& c) {
  return fmt::format(
      "{} sweep{} at most, {} swept again over {} segments, {} finished in order, worst jump {:.1e} "
      "of the state",
      c.sweeps, c.sweeps == 1 ? "" : "s", c.extra_sweeps, c.segments, c.segments_in_order, c.worst_jump);
}

}  // namespace rondo::executable
