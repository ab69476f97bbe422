// Which products of CPUs their matrix tiles make (Intel AMX), and how the vectors lie for them.
#pragma once

#include "compiler/schedule/host/parameters.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// Whether tiles may multiply such vectors: a parameter chooses them, for steps all of whose products are
// sums.
bool host_tiles(const HostParameters& parameters, kernel::Storage vector);

// Elements between rows of bf16: whole lines of the cache, an odd number, so that rows do not push each other
// out of it.
std::int64_t tile_pitch(std::int64_t dim);

// Copies `count` elements of bf16, a multiple of 32, as they are: two a lane.
void copy_pairs(kernel::Builder& builder, kernel::Memory to, kernel::Value to_place, kernel::Memory from,
                kernel::Value from_place, std::int64_t count, int lanes);

}  // namespace rondo::schedule
