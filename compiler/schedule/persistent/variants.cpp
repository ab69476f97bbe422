// The variants of a team: one block, clusters, part of the grid.
#include <fmt/format.h>

#include "compiler/schedule/persistent/strategy.h"

namespace rondo::schedule {

std::vector<Variant> Persistent::variants() const {
  using P = PersistentParameters;
  const auto in_cluster = [](int blocks) {
    return Parameters{named<P, &P::exchange>(Exchange::Cluster), named<P, &P::blocks>(blocks)};
  };
  std::vector<Variant> result = {{"one block", in_cluster(1), 1}};
  for (const int blocks : {2, 4, 8, 16})
    result.push_back({fmt::format("cluster of {}", blocks), in_cluster(blocks), blocks});
  // Gathered fragments are another way through a grid, for what fits without them.
  result.push_back(
      {"grid", {named<P, &P::exchange>(Exchange::Global), named<P, &P::gather_fragments>(false)}, 1});
  return result;
}

}  // namespace rondo::schedule
