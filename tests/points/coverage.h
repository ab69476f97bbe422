// What a run of points has come across: values of parameters, and situations in which mistakes have hidden.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/points/point.h"

namespace rondo::points {

class Coverage {
 public:
  void add(const Point& point);

  // How many points a strategy has; of each of its parameters, how often each value came, of how many that
  // some point could have had; how often each situation came.
  std::string text() const;
  // Parameters that could have had two values and never had two, and situations that never came.
  std::vector<std::string> gaps() const;

 private:
  struct Parameter {
    std::set<std::int64_t> reachable;
    std::map<std::int64_t, int> drawn;
  };
  std::map<std::string, int> points_;                                   // by strategy
  std::map<std::string, std::map<std::string, Parameter>> parameters_;  // by strategy and name
  std::map<std::string, int> situations_;
};

}  // namespace rondo::points
