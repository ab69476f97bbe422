// The variants of a team of persistent, and the other strategy of cells with matrices: tests take each of
// them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/choice/candidates.h"

namespace rondo::testing {

enum class Variant { Block, Cluster, Grid, Fragments, Alternating };

inline bool is_variant(const engine::Candidate& candidate, Variant variant) {
  if ((candidate.strategy == "alternating") != (variant == Variant::Alternating)) return false;
  if (variant == Variant::Alternating) return true;
  const schedule::Parameters& parameters = candidate.parameters;
  const auto blocks = parameters.find("blocks");
  if (blocks == parameters.end()) return false;
  if (variant == Variant::Grid || variant == Variant::Fragments)
    return parameters.at("exchange") == 1 &&
           parameters.at("gather_fragments") == (variant == Variant::Fragments ? 1 : 0);
  return parameters.at("exchange") == 0 && (blocks->second > 1) == (variant == Variant::Cluster);
}

// Candidates of a variant, the fastest by the model first, and the channels a head that they are for.
struct VariantCandidates {
  std::int64_t dim = 0;
  std::vector<engine::Candidate> list;  // empty: there is none
};

// Those of the problem. One block does not hold as much of every cell as a team does: where it has no room,
// of the largest head that it has room for, 16, 32 ... channels smaller, so that the last k-tile (16
// channels) is as full as that of the problem. Other variants get no smaller heads. Errors: those of
// ranked_candidates().
inline Result<VariantCandidates> variant_candidates(const step::Cell& cell, schedule::Problem problem,
                                                    const target::Profile& profile, Variant variant) {
  VariantCandidates result;
  for (; problem.sizes.dim > 0 && result.list.empty(); problem.sizes.dim -= 16) {
    Result<std::vector<engine::Candidate>> all = engine::ranked_candidates({cell, problem, profile});
    if (!all) return all.error();
    result.dim = problem.sizes.dim;
    for (engine::Candidate& candidate : *all)
      if (is_variant(candidate, variant)) result.list.push_back(std::move(candidate));
    if (variant != Variant::Block) break;
  }
  return result;
}

}  // namespace rondo::testing
