// The variants of a team: one block, clusters, part of the grid.
#include <fmt/format.h>

#include "compiler/schedule/persistent/strategy.h"

namespace rondo::schedule {

std::vector<Variant> Persistent::variants() const {
  std::vector<Variant> result = {{"one block", {{"exchange", 0}, {"blocks", 1}}, 1}};
  for (const int blocks : {2, 4, 8, 16})
    result.push_back({fmt::format("cluster of {}", blocks), {{"exchange", 0}, {"blocks", blocks}}, blocks});
  result.push_back({"grid", {{"exchange", 1}}, 1});
  return result;
}

}  // namespace rondo::schedule
