#include "tuner/report/machine_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/figures/alone.h"

namespace rondo::tuner {
namespace {

// What machines have pictures of, whether a report has them or not.
constexpr const char* kRoofline = "roofline";
constexpr const char* kFloors = "floors";

struct OnMachine {
  std::vector<figures::MeasuredPoint> points;
  std::vector<figures::Roof> roofs;
};

// "lstm 12×64 B=16 fw"
std::string label_of(const ReportedProblem& problem) {
  const db::Shape& shape = problem.problem.shape;
  return fmt::format("{} {}×{} B={} {}", problem.cell, shape.H, shape.D, shape.B, problem.problem.pass);
}

OnMachine on_machine(const Report& report, const std::string& machine) {
  OnMachine found;
  std::map<std::string, double> rates;
  for (const ReportedProblem& problem : report.problems) {
    if (problem.machine != machine || !problem.seconds || problem.floors.empty()) continue;
    found.points.push_back(point_of(problem, problem_name(problem.cell, problem.problem)));
    found.points.back().label = label_of(problem);
    for (const Floor& floor : problem.floors)
      if (floor.name == "products") rates[floor.by] = floor.rate();
  }
  for (const auto& [name, rate] : rates) found.roofs.push_back({name, rate});
  return found;
}

}  // namespace

figures::MeasuredPoint point_of(const ReportedProblem& problem, const std::string& name) {
  figures::MeasuredPoint point{name, problem.seconds.value_or(0), {}, false};
  for (const Floor& floor : problem.floors) point.floors.push_back({floor.name, floor.seconds, floor.amount});
  return point;
}

std::vector<MachineFigure> machine_figures(const Report& report) {
  std::vector<MachineFigure> all;
  for (const ReportedMachine& machine : report.machines) {
    const OnMachine on = on_machine(report, machine.key);
    if (!on.roofs.empty())
      all.push_back({kRoofline, machine.name,
                     figures::roofline(machine.name, machine.copy_bytes_per_s, on.roofs, on.points)});
    if (!on.points.empty())
      all.push_back({kFloors, machine.name, figures::time_over_floor(machine.name, on.points)});
  }
  return all;
}

Result<std::string> picture_of(const Report& report, const std::string& name) {
  std::vector<MachineFigure> found = machine_figures(report);
  std::erase_if(found, [&](const MachineFigure& one) { return one.name != name; });
  if (found.size() == 1) return figures::alone(found.front().figure, name) + "\n";
  if (name != kRoofline && name != kFloors)
    return Error{ErrorKind::Input, fmt::format("there is no picture '{}'", name),
                 fmt::format("'{}' and '{}' are pictures", kRoofline, kFloors)};
  if (found.empty())
    return Error{ErrorKind::Input, fmt::format("the report has no picture '{}'", name),
                 "it needs a problem with a time and floors, and the roofline one with a matrix; the page "
                 "without --picture says what is missing"};
  std::string machines;
  for (const MachineFigure& one : found)
    machines += fmt::format("{}{}", machines.empty() ? "" : ", ", one.machine);
  return Error{ErrorKind::Input,
               fmt::format("the report has a picture '{}' for each of several machines: {}", name, machines),
               "`rondo report --record FILE`, or a cell with --arch, is of one machine"};
}

}  // namespace rondo::tuner
