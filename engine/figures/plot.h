// Points and lines over two axes, with ticks, a grid and a legend.
#pragma once

#include <string>
#include <vector>

#include "engine/figures/axis.h"
#include "engine/figures/svg.h"

namespace rondo::figures {

struct PlotPoint {
  double x = 0, y = 0;
  std::string title;    // what a pointer that rests on it shows
  bool marked = false;  // drawn with a ring, above the others
  std::string label{};  // beside it, where there is room: no text lies on another text, point or dash
};

struct Series {
  std::string name;  // in the legend; "": it has no entry
  std::string kind;  // its class: "bytes", "s0"
  Shape shape = Shape::Circle;
  std::vector<PlotPoint> points;
};

struct Curve {
  std::string name;  // in the legend; "": it has no entry
  std::string kind;
  std::vector<Point> points;  // of values
  std::string label;          // at its last point within the plot, to the left and above it
  bool below = false;         // it stands to the right and below
};

struct Plot {
  Axis x, y;  // their pixels are set by draw()
  std::vector<Curve> curves;
  std::vector<Series> series;
};

// A picture of that size, without the text around it: Svg::finish() makes the whole of it.
Svg draw(Plot plot, double width, double height);

}  // namespace rondo::figures
