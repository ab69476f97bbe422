#include "tests/points/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/schedule/plan/simulate_plan.h"
#include "tests/points/resources.h"
#include "tests/points/values.h"
#include "tests/schedule/comparison.h"

namespace rondo::points {

namespace {

// Whether they differ by numbers that fp32 only has below the normal ones, where no digit counts: a state
// that fades away.
bool differ_by_nothing(const std::vector<double>& got, const std::vector<double>& expected) {
  const auto near = [](double a, double b) { return std::abs(a - b) <= 0x1p-126; };
  return std::equal(got.begin(), got.end(), expected.begin(), near);
}

// The first place where they differ.
std::string difference(const Expected& expected, const std::vector<double>& got) {
  if (expected.values.size() != got.size())
    return fmt::format("{} has {} elements, not {}", expected.name, got.size(), expected.values.size());
  if (expected.allowed) {
    const double error = schedule::norm_error(got, expected.values);
    return error <= *expected.allowed || differ_by_nothing(got, expected.values)
               ? ""
               : fmt::format("{} is off by {:.3g}; {:.3g} is allowed", expected.name, error,
                             *expected.allowed);
  }
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = got.size(); i-- > 0;)
    if (!(got[i] == expected.values[i])) ++wrong, first = i;
  return wrong == 0
             ? ""
             : fmt::format("{}: {} of {} elements are wrong, the first is {}: {} for {}", expected.name,
                           wrong, got.size(), first, got[first], expected.values[first]);
}

void compare(const std::vector<Expected>& expected, const schedule::SimulatedRun& run, Outcome& outcome) {
  const auto complain = [&](std::string text) { outcome.complaints.push_back(std::move(text)); };
  for (const std::string& fault : run.faults) complain("fault: " + fault);
  for (const std::string& name : run.unwritten) complain("not all was written of " + name);
  if (run.written.size() != expected.size())
    complain(fmt::format("{} tensors are written, not {}", run.written.size(), expected.size()));
  for (const Expected& e : expected) {
    const auto found = run.written.find(e.ref);
    if (found == run.written.end())
      complain(e.name + " is not written");
    else if (std::string text = difference(e, found->second); !text.empty())
      complain(std::move(text));
  }
}

}  // namespace

Outcome run_point(const Point& point) {
  Outcome outcome;
  const schedule::KernelPlan plan = build(point);
  outcome.complaints = resource_complaints(point, plan);
  for (const schedule::Launch& launch : plan.launches) {
    const std::int64_t tiles = (point.call.batch + launch.batch_tile - 1) / launch.batch_tile;
    if (launch.tiles_together > 0)
      outcome.parts = std::max(outcome.parts,
                               static_cast<int>((tiles + launch.tiles_together - 1) / launch.tiles_together));
  }
  const std::optional<Values> values = draw_values(point);
  if (!values) return outcome;
  outcome.compared = true;
  // Made for the problem's sizes, called with others.
  const auto executable = schedule::lower_plan({point.cell, point.problem, {}}, plan);
  if (!executable) {
    outcome.complaints.push_back(executable.error().message);
    return outcome;
  }
  const auto start = std::chrono::steady_clock::now();
  const schedule::SimulatedRun run =
      schedule::simulate_executable(*executable, plan, point.call, values->given, point.pad);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  compare(values->expected, run, outcome);
  return outcome;
}

}  // namespace rondo::points
