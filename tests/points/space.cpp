#include "tests/points/space.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "compiler/constraint/solver.h"

namespace rondo::points {

namespace {

using constraint::Assignment;
using constraint::System;

std::string name_of(const System& space, std::size_t variable) {
  return space.names().variables[variable].name;
}

// Sees every point once: the values that variables take, and one point, each with the same probability.
class Reservoir {
 public:
  Reservoir(std::size_t variables, Random& random) : values_(variables), random_(random) {}

  void run(const System& space) {
    (void)constraint::enumerate(space, [&](const Assignment& point) {
      for (std::size_t i = 0; i < values_.size(); ++i) ++values_[i][point.values()[i]];
      if (std::uniform_int_distribution<std::int64_t>(0, seen_++)(random_) == 0) kept_ = point;
      return true;
    });
  }

  const std::optional<Assignment>& kept() const { return kept_; }
  std::int64_t seen() const { return seen_; }
  // How many points have each value.
  const std::map<std::int64_t, std::int64_t>& values(std::size_t variable) const { return values_[variable]; }

 private:
  std::vector<std::map<std::int64_t, std::int64_t>> values_;
  Random& random_;
  std::int64_t seen_ = 0;
  std::optional<Assignment> kept_;
};

// Parameters that make other kernels, not larger or smaller ones.
constexpr std::array kForms = {"exchange",       "reduce_scatter", "cluster_k_split", "setmaxnreg",
                               "segments",       "keep_inputs",    "newton",          "time_split",
                               "pipeline_depth", "split_k"};

// The share of points that do not have a variable's commonest value.
double others_share(const std::map<std::int64_t, std::int64_t>& values, std::int64_t points) {
  std::int64_t commonest = 0;
  for (const auto& [value, count] : values) commonest = std::max(commonest, count);
  return 1 - static_cast<double>(commonest) / static_cast<double>(points);
}

// A value of a variable that has several, half the time of one of kForms: a variable of which nearly all
// points have one value comes ten times as often as one whose values are even, and a value that a hundredth
// of the points has thirty times as often as one that all have.
std::pair<std::size_t, std::int64_t> draw_value(const System& space, const Reservoir& all, Random& random) {
  std::vector<std::size_t> variables, forms;
  std::vector<double> of_forms;
  for (std::size_t i = 0; i < space.domains().size(); ++i) {
    if (all.values(i).size() < 2) continue;
    variables.push_back(i);
    if (std::find(kForms.begin(), kForms.end(), name_of(space, i)) == kForms.end()) continue;
    forms.push_back(i);
    of_forms.push_back(1 / (0.05 + others_share(all.values(i), all.seen())));
  }
  if (variables.empty()) return {0, all.values(0).begin()->first};
  std::size_t variable = one_of(random, variables);
  if (!forms.empty() && chance(random, 0.5))
    variable = forms[std::discrete_distribution<std::size_t>(of_forms.begin(), of_forms.end())(random)];
  std::vector<std::int64_t> values;
  std::vector<double> weights;
  for (const auto& [value, points] : all.values(variable)) {
    values.push_back(value);
    weights.push_back(std::pow(static_cast<double>(points), -0.75));
  }
  return {variable, values[std::discrete_distribution<std::size_t>(weights.begin(), weights.end())(random)]};
}

}  // namespace

std::optional<Drawn> draw_point(const System& space, Random& random, bool by_value) {
  const std::size_t variables = space.domains().size();
  Reservoir all(variables, random);
  all.run(space);
  if (!all.kept()) return std::nullopt;
  Drawn result;
  for (std::size_t i = 0; i < variables; ++i)
    for (const auto& [value, points] : all.values(i)) result.reach[name_of(space, i)].push_back(value);
  Reservoir part(variables, random);
  if (by_value) {
    const auto [variable, value] = draw_value(space, all, random);
    System narrowed = space;
    narrowed.require(constraint::Var(variable, name_of(space, variable)) == value, "the value");
    part.run(narrowed);
  }
  const Reservoir& from = by_value ? part : all;
  result.points = from.seen();
  for (const auto& [name, value] : from.kept()->items()) result.quantities[name] = value;
  for (std::size_t i = 0; i < variables; ++i) result.parameters[name_of(space, i)] = from.kept()->values()[i];
  return result;
}

}  // namespace rondo::points
