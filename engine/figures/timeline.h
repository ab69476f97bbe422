// One step of a kernel as a picture: what waits for what, and what goes on meanwhile.
#pragma once

#include <string>
#include <vector>

#include "engine/figures/figure.h"

namespace rondo::figures {

struct TimelinePart {
  enum class Of { Chain, Work, Launches } of = Of::Work;
  std::string name;
  double seconds =
      0;  // of one step; of Launches of the whole run. Below zero: of the chain, what its parts hide
};

// The parts of the chain one after the other, the others beside them, each from the beginning: they may take
// place at any time of the step. `step_s` is what a step takes in all.
Figure timeline(const std::vector<TimelinePart>& parts, double step_s, const std::string& by);

}  // namespace rondo::figures
