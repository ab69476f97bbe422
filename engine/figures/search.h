// A search for the fastest kernel as pictures, from the trials that were recorded of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/figures/figure.h"

namespace rondo::figures {

struct TriedPoint {
  std::string strategy;
  std::string name;  // its parameters as text
  std::optional<double> measured_s;
  std::optional<double> predicted_s;  // by the model of its strategy
  bool best = false;
  std::string fate;  // "ok", "spill"
};

// Predicted over measured times, with the line where both are equal.
Figure model_beside_time(const std::vector<TriedPoint>& trials);

// Times in the order of the trials, and the best so far.
Figure best_so_far(const std::vector<TriedPoint>& trials);

// Which parameters matter.
struct ParameterShare {
  std::string name;
  double share = 0;  // of the spread of times that its values explain
  int values = 0;    // that were tried
};
Figure parameter_shares(const std::string& strategy, std::size_t trials,
                        const std::vector<ParameterShare>& shares);

}  // namespace rondo::figures
