// How far a search is, on one line of the terminal.
#pragma once

#include <string>

#include "tuner/search/search.h"

namespace rondo::tools {

// "[#####.....] 37 of 410 tried, best 0.1830 ms (stream channels=64 ...), 12 s left", cut to `columns`.
std::string progress_line(const tuner::Progress& progress, double budget_s, int columns);

// Draws on standard error if that is a terminal, at most ten times a second; wipes the line when it goes.
class ProgressBar {
 public:
  explicit ProgressBar(double budget_s);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  void show(const tuner::Progress& progress);

 private:
  double budget_s_;
  bool terminal_;
  bool drawn_ = false;
  tuner::Clock clock_ = tuner::steady_clock();
  double next_ = 0;
};

}  // namespace rondo::tools
