// Where one strategy takes over from another as there are more channels: `rondo check`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::engine {

// By model, at the problem's T, H, D, types and pass: as the batch grows. At the problem's own B it says what
// a ranking of the strategies by their models says there.
struct Crossover {
  std::string few, many;      // strategies; the same one where it is best for any number of channels
  std::int64_t channels = 0;  // B * H * D: the most that were looked at where `few` is still the better one
};

// None where fewer than two strategies compute the cell, and for cells with matrices, whose choice hangs on D
// and not on the number of channels. Errors: those of best_candidate().
Result<std::optional<Crossover>> crossover(const schedule::Task& task);

// "by model, at T=4096, H=1, D=1024: shoot up to B=16 (16384 channels), stream with more"
std::string print(const Crossover& crossover, const schedule::Problem& problem);

}  // namespace rondo::engine
