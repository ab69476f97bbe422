#include "tests/points/coverage.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/step/forms.h"
#include "compiler/step/structure.h"

namespace rondo::points {

namespace {

bool has_tensor(const step::Cell& cell, step::TensorKind kind, auto&& holds) {
  return std::any_of(cell.tensors.begin(), cell.tensors.end(),
                     [&](const step::Tensor& tensor) { return tensor.kind == kind && holds(tensor); });
}

// Each by a name, and whether the point is one.
std::vector<std::pair<std::string, bool>> situations(const Point& point) {
  const step::Sizes &call = point.call, &problem = point.problem.sizes;
  const schedule::Parameters& p = point.parameters();
  const auto at = [&](const char* name) { return p.contains(name) ? p.at(name) : 0; };
  const bool dense = step::analyze(point.cell).has_matrix;
  const bool backward = point.problem.pass == schedule::Pass::Backward;
  const bool later_part = at("exchange") == 1 && call.batch > rows_of_part(point);
  return {{"more than two turns of the ring",
           at("stages") > 0 && at("steps") > 0 && call.time > two_turns(point)},
          {"a later part of a launch", later_part},
          {"a later part of a launch, several heads", later_part && problem.heads > 1},
          {"a larger batch than planned", call.batch > problem.batch},
          {"a smaller batch than planned", call.batch < problem.batch},
          {"more than a tile of batch rows, the last one not full",
           dense && call.batch > 8 * at("batch_tiles") && call.batch % (8 * at("batch_tiles")) != 0},
          {"whole stages of a gradient of a matrix, several batch rows",
           dense && backward && call.time % stage_of_products(point) == 0 && call.batch > 1},
          {"states of several rows",
           has_tensor(point.cell, step::TensorKind::State, [](const auto& t) { return t.rows > 1; })},
          {"a gradient of a per-head value, more than 128 channels",
           backward && problem.dim > 128 &&
               has_tensor(point.cell, step::TensorKind::Param,
                          [](const auto& t) { return t.tail == step::Tail::Scalar; })},
          {"a step that is rewritten, of a random cell", at("rewrite") > 0 && !point.from_library},
          {"a residual step in few instructions or for a short chain",
           at("rewrite") > 0 && point.exact && point.cell.source.find(" * h") != std::string::npos},
          {"products saved", schedule::passes_products(point.problem)},
          {"clipped", point.cell.clip.any()},
          {"with resets", step::forms_of(point.cell).resets},
          {"with lengths", step::forms_of(point.cell).lengths},
          {"reversed", step::forms_of(point.cell).reversed},
          {"in two directions", step::forms_of(point.cell).directions},
          {"with both", step::forms_of(point.cell).resets && step::forms_of(point.cell).lengths},
          {"initial states that are not given", point.missing > 0},
          {"gaps between rows", point.pad > 0},
          {"blocks that wait for each other", at("exchange") == 1},
          {"clusters", at("exchange") == 0 && std::max(at("blocks"), at("time_split")) > 1}};
}

}  // namespace

void Coverage::add(const Point& point) {
  const std::string strategy = point.strategy->name();
  ++points_[strategy];
  for (const auto& [name, values] : point.drawn.reach) {
    Parameter& parameter = parameters_[strategy][name];
    parameter.reachable.insert(values.begin(), values.end());
    ++parameter.drawn[point.parameters().at(name)];
  }
  for (const auto& [name, holds] : situations(point)) situations_[name] += holds ? 1 : 0;
}

std::string Coverage::text() const {
  std::string text;
  for (const auto& [strategy, count] : points_) {
    text += fmt::format("{}: {} points\n", strategy, count);
    for (const auto& [name, parameter] : parameters_.at(strategy)) {
      text +=
          fmt::format("  {:<22} {} of {} values:", name, parameter.drawn.size(), parameter.reachable.size());
      for (const auto& [value, times] : parameter.drawn) text += fmt::format(" {} ({})", value, times);
      text += "\n";
    }
  }
  for (const auto& [name, count] : situations_) text += fmt::format("{}: {}\n", name, count);
  return text;
}

std::vector<std::string> Coverage::gaps() const {
  std::vector<std::string> gaps;
  for (const auto& [strategy, parameters] : parameters_)
    for (const auto& [name, parameter] : parameters)
      if (parameter.reachable.size() > 1 && parameter.drawn.size() < 2)
        gaps.push_back(fmt::format("{}: {} never had another value than {}", strategy, name,
                                   parameter.drawn.begin()->first));
  for (const auto& [name, count] : situations_)
    if (count == 0) gaps.push_back("there was no point with " + name);
  return gaps;
}

}  // namespace rondo::points
