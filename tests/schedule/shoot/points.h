// Parameters of shoot that fit a problem, however small.
#pragma once

#include <algorithm>

#include "compiler/schedule/strategies.h"
#include "tests/schedule/point_plan.h"

namespace rondo::schedule {

struct ShootTeam {
  int segments = 4, time_split = 1, exchange = 0;
};

inline Parameters shoot_point(const Problem& problem, ShootTeam team, int per_thread = 1, int warmup = 0,
                              bool newton = true, int sweeps = 3) {
  int vector = static_cast<int>(16 / kernel::storage_bytes(problem.storage));
  while (problem.sizes.dim % vector != 0) vector /= 2;
  per_thread = std::min(per_thread, vector);
  return {{"channels", 32 * per_thread},
          {"per_thread", per_thread},
          {"segments", team.segments},
          {"time_split", team.time_split},
          {"exchange", team.exchange},
          {"steps", 8},
          {"stages", 2},
          {"unroll", 4},
          {"vector", vector},
          {"warmup", warmup},
          {"newton", newton ? 1 : 0},
          {"sweeps", sweeps},
          {"rewrite", 0},
          {"keep_inputs", 0},
          {"stream_stores", 0}};
}

}  // namespace rondo::schedule
