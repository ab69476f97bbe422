// Pictures of all problems of a report, beside what each machine allows them.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "engine/figures/figure.h"
#include "engine/figures/roofline.h"
#include "tuner/report/report.h"

namespace rondo::tuner {

struct MachineFigure {
  std::string name;     // "roofline", "floors"
  std::string machine;  // its name
  figures::Figure figure;
};

// Of each machine a roofline, where a problem multiplies by matrices, and the times over their floors.
std::vector<MachineFigure> machine_figures(const Report& report);

// The figure of that name as an SVG document that stands alone (engine/figures/alone.h). Error Input: there
// is none, or there is one for each of several machines.
Result<std::string> picture_of(const Report& report, const std::string& name);

// What of the problem has a place in such pictures.
figures::MeasuredPoint point_of(const ReportedProblem& problem, const std::string& name);

}  // namespace rondo::tuner
