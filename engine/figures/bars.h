// Rows of horizontal bars from zero, one or several a row.
#pragma once

#include <string>
#include <vector>

#include "engine/figures/axis.h"
#include "engine/figures/svg.h"

namespace rondo::figures {

struct Bar {
  double value = 0;
  std::string kind;   // its class
  std::string title;  // what a pointer that rests on it shows
};

struct BarRow {
  std::string label;
  std::string value;  // the number beside the bars, as text
  std::vector<Bar> bars;
  bool marked = false;  // its label stands out
};

struct BarChart {
  Axis axis;  // linear; its ends follow from the bars
  std::vector<BarRow> rows;
  struct Entry {
    std::string name, kind;
  };
  std::vector<Entry> legend;
  double line = 0;   // a value at which a line stands: "100%"; 0: none
  double reach = 0;  // that the axis has at least
};

// As high as its rows need. Where it is narrow, labels stand above their bars.
Svg draw(BarChart chart, double width);

}  // namespace rondo::figures
