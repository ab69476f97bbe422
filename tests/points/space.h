// Points of a tuning space, drawn at random.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/constraint/system.h"
#include "compiler/schedule/problem/parameters.h"
#include "tests/points/random_text.h"

namespace rondo::points {

// The values that each variable has at some legal point at least; by name. Empty if there is no point.
using Reach = std::map<std::string, std::vector<std::int64_t>>;

struct Drawn {
  schedule::Parameters parameters;
  std::map<std::string, std::int64_t> quantities;  // those, and what the space derives from them
  Reach reach;
  std::int64_t points = 0;  // of the space, or of the part of it that was drawn from
};

// Each point with the same probability; or, `by_value`, first one value of one variable, the rarer the
// likelier, and then each point that has it: what only few points have would hardly ever come otherwise. None
// if the space is empty.
std::optional<Drawn> draw_point(const constraint::System& space, Random& random, bool by_value);

}  // namespace rondo::points
