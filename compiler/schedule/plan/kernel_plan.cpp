#include "compiler/schedule/plan/kernel_plan.h"

#include <algorithm>

namespace rondo::schedule {

std::int64_t TiledExtent::elements(std::int64_t batch, std::int64_t time) const {
  const std::int64_t spans = time_tile > 0 ? (time + time_tile - 1) / time_tile : 1;
  return each * ((batch + batch_tile - 1) / batch_tile) * spans;
}

const Extent& kept_extent(const KernelPlan& plan, Role role) {
  return role == Role::Packed ? plan.packed : role == Role::Vectors ? plan.vectors : plan.carries;
}

std::int64_t grid_blocks(const Launch& launch, std::int64_t batch, std::int64_t time) {
  const std::int64_t rows = (batch + launch.batch_tile - 1) / launch.batch_tile;
  const std::int64_t spans = launch.time_tile > 0 ? (time + launch.time_tile - 1) / launch.time_tile : 1;
  return launch.blocks_fixed + launch.blocks_per_batch * rows * spans;
}

std::vector<LaunchPart> launch_parts(const Launch& launch, std::int64_t batch, std::int64_t time) {
  if (launch.tiles_together == 0) return {{0, grid_blocks(launch, batch, time)}};
  std::vector<LaunchPart> parts;
  const std::int64_t tiles = (batch + launch.batch_tile - 1) / launch.batch_tile;
  for (std::int64_t first = 0; first < tiles; first += launch.tiles_together) {
    const std::int64_t rows = std::min(launch.tiles_together, tiles - first) * launch.batch_tile;
    parts.push_back({first, grid_blocks(launch, rows, time)});
  }
  return parts;
}

}  // namespace rondo::schedule
