// Where one strategy takes over from another as there are more channels: `rondo check`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/target/profile.h"

namespace rondo::engine {

// By model, at the problem's T, types and pass, for rows of up to 1024 channels.
struct Crossover {
  std::string few, many;      // strategies; the same one where it is best for any number of channels
  std::int64_t channels = 0;  // B * H * D, a power of two: the most at which `few` is still the better one
};

// None where fewer than two strategies compute the cell, and for cells with matrices, whose choice hangs on D
// and not on the number of channels. Errors: those of best_candidate().
Result<std::optional<Crossover>> crossover(const schedule::Task& task);

// "by model, at T=4096: shoot up to 16384 channels (B * H * D), stream with more"
std::string print(const Crossover& crossover, const schedule::Problem& problem);

}  // namespace rondo::engine
