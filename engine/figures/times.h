// Times as bars.
#pragma once

#include <string>
#include <vector>

#include "engine/figures/figure.h"

namespace rondo::figures {

struct NamedTime {
  std::string name;  // "measured", "floor of bytes"
  std::string kind;  // its class
  double seconds = 0;
  std::string detail;  // for the table: "126 MB, each once, at 4.3 TB/s"
};

// Times of one problem from zero: its own, its floors, those of peers.
Figure time_bars(const std::string& title, const std::string& about, const std::vector<NamedTime>& times);

struct Ratio {
  std::string name;
  double factor = 1;
  std::vector<std::string> cells;  // of the table, behind the name
};

// Factors beside a line at 1. `head` names the table's columns behind the first two, the name and the factor.
Figure ratio_bars(const std::string& title, const std::string& about, const std::string& axis,
                  const std::vector<std::string>& head, const std::vector<Ratio>& ratios);

}  // namespace rondo::figures
