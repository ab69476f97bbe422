// How far a search is, on one line of the terminal.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "tuner/search/search.h"

namespace rondo::tools {

// "[#####.....] 37 of 410 tried, best 0.1830 ms (stream channels=64 ...), 12 s left", cut to `columns`.
std::string progress_line(const tuner::Progress& progress, double budget_s, int columns);

// "[#####.....] 3 of 12: lstm fw bf16 ...", cut to `columns`.
std::string progress_line(std::size_t done, std::size_t all, const std::string& what, int columns);

// A line on standard error, if that is a terminal, drawn at most ten times a second; wiped when it goes.
class StatusLine {
 public:
  StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine();

  // `line` makes the text for so many columns.
  void show(const std::function<std::string(int columns)>& line);
  void wipe();  // for a line of something else

 private:
  bool terminal_;
  bool drawn_ = false;
  tuner::Clock clock_ = tuner::steady_clock();
  double next_ = 0;
};

class ProgressBar {
 public:
  explicit ProgressBar(double budget_s) : budget_s_(budget_s) {}
  void show(const tuner::Progress& progress) {
    line_.show([&](int columns) { return progress_line(progress, budget_s_, columns); });
  }

 private:
  double budget_s_;
  StatusLine line_;
};

}  // namespace rondo::tools
