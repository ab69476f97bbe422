#include "compiler/schedule/host/tiles.h"

#include "compiler/support/integers.h"

namespace rondo::schedule {

bool host_tiles(const HostParameters& p, kernel::Storage vector) {
  return p.matrix_tiles && vector == kernel::Storage::BF16;
}

std::int64_t tile_pitch(std::int64_t dim) {
  return (ceil_div(dim, kernel::kTileStep) | 1) * kernel::kTileStep;
}

void copy_pairs(kernel::Builder& b, kernel::Memory to, Value to_place, kernel::Memory from, Value from_place,
                std::int64_t count, int lanes) {
  b.for_("column", b.constant(0), b.constant(count), b.constant(2 * lanes), 4, [&](Value column) {
    const Value i = b.let("i", column + b.thread() * 2);
    b.store_packed(to[to_place + i], b.load_packed("v", from[from_place + b.wide(i)], 1));
  });
}

}  // namespace rondo::schedule
