#include "compiler/schedule/alternating/geometry.h"

namespace rondo::schedule {

AlternatingGeometry::AlternatingGeometry(const Problem& problem, const AlternatingParameters& parameters)
    : dim(problem.sizes.dim), p(parameters) {
  lane_elements = 16 / kernel::storage_bytes(problem.storage);
  chunk = 4 * lane_elements;
  chunks = static_cast<int>(ceil_div(dim, chunk));
  padded = chunks * chunk;
  tiles = static_cast<int>(ceil_div(dim, p.units));
  batch = 8 * p.batch_tiles;
}

std::int64_t AlternatingGeometry::packed_elements(const Problem& problem, const ProductGroup& group) const {
  return problem.sizes.heads * tiles * chunks * matrix_pieces(group) * piece_elements();
}

}  // namespace rondo::schedule
