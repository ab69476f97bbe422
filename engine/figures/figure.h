// What every picture comes with: its name, what it shows in words, and its numbers as a table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/figures/svg.h"

namespace rondo::figures {

struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

struct Figure {
  std::string title;
  std::string about;  // one or two sentences: what the marks mean, and what is to be read off
  Table table;
  std::function<Svg(double width)> draw;  // for a page so many pixels wide
  bool fixed = false;                     // it has a width of its own, whatever it is asked for
};

}  // namespace rondo::figures
