#include "compiler/schedule/alternating/geometry.h"

#include <fmt/format.h>

#include <stdexcept>

namespace rondo::schedule {

AlternatingParameters AlternatingParameters::from(const Parameters& parameters) {
  const auto get = [&](const char* name) {
    const auto found = parameters.find(name);
    if (found == parameters.end())
      throw std::logic_error(fmt::format("alternating: parameter {} is missing", name));
    return static_cast<int>(found->second);
  };
  AlternatingParameters p{get("units"), get("batch_tiles"), get("warps"), get("stages"), 1};
  if (parameters.count("vector") != 0) p.vector = get("vector");
  return p;
}

AlternatingGeometry::AlternatingGeometry(const Problem& problem, const AlternatingParameters& parameters)
    : dim(problem.sizes.dim), p(parameters) {
  lane_elements = 16 / kernel::storage_bytes(problem.storage);
  chunk = 4 * lane_elements;
  chunks = static_cast<int>((dim + chunk - 1) / chunk);
  padded = chunks * chunk;
  tiles = static_cast<int>((dim + p.units - 1) / p.units);
  batch = 8 * p.batch_tiles;
}

std::int64_t AlternatingGeometry::packed_elements(const Problem& problem, const ProductGroup& group) const {
  return problem.sizes.heads * tiles * chunks * row_tiles(group) * 2 * piece_elements();
}

}  // namespace rondo::schedule
