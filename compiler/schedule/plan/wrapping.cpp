#include "compiler/schedule/plan/wrapping.h"

#include <utility>

namespace rondo::schedule {

Task in_order_of_time(const Task& task) {
  if (task.cell.direction != step::Direction::Halves) return task;
  step::Cell cell = task.cell;
  cell.direction = step::Direction::Forward;
  return task.of(std::move(cell));
}

std::shared_ptr<ProductsBeside> Wrapping::products_beside(const BesideWhat& what,
                                                          const Parameters& parameters) const {
  return walk_.products_beside(what, parameters);
}

constraint::System Wrapping::space(const Task& task) const {
  const std::optional<Walk> walk = walk_of(task);
  return walk_.space(walk ? walk->task : task);
}

CostModel Wrapping::cost_model(const Task& task) const {
  const std::optional<Walk> walk = walk_of(task);
  if (!walk) return walk_.cost_model(task);
  return [model = walk_.cost_model(walk->task), beside = walk->seconds_beside](const Parameters& parameters) {
    Estimate estimate = model(parameters);
    estimate.seconds += beside;
    estimate.launch += beside;
    return estimate;
  };
}

std::vector<EstimatePart> Wrapping::parts(const Task& task, const Parameters& parameters) const {
  const std::optional<Walk> walk = walk_of(task);
  if (!walk) return walk_.parts(task, parameters);
  std::vector<EstimatePart> parts = walk_.parts(walk->task, parameters);
  parts.push_back({EstimatePart::Of::Launches, walk->beside, walk->seconds_beside});
  return parts;
}

std::vector<EstimatePart> Wrapping::measured_chain(const Task& task, const Parameters& parameters) const {
  const std::optional<Walk> walk = walk_of(task);
  return walk_.measured_chain(walk ? walk->task : task, parameters);
}

}  // namespace rondo::schedule
