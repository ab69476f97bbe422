// A strategy that wraps another one. It may replace the task by one that the other strategy walks; launches
// beside that walk do the rest, and their time is added to the model and to the parts. Without a replacement
// the other strategy gets the task as it is.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

class Wrapping : public Strategy {
 public:
  explicit Wrapping(const Strategy& walk) : walk_(walk) {}  // must outlive this

  std::string name() const override { return walk_.name(); }
  std::vector<Variant> variants() const override { return walk_.variants(); }
  Legality serves(const target::Profile& profile) const override { return walk_.serves(profile); }
  double model_error() const override { return walk_.model_error(); }
  int alignment(const Problem& problem, const Parameters& parameters) const override {
    return walk_.alignment(problem, parameters);
  }
  std::span<const ParameterRow> parameters() const override { return walk_.parameters(); }
  std::int64_t turn(const Parameters& parameters) const override { return walk_.turn(parameters); }
  int rows_added(int batch_rows) const override { return walk_.rows_added(batch_rows); }
  std::shared_ptr<ProductsBeside> products_beside(const BesideWhat& what,
                                                  const Parameters& parameters) const override;

  constraint::System space(const Task& task) const final;
  CostModel cost_model(const Task& task) const final;
  std::vector<EstimatePart> parts(const Task& task, const Parameters& parameters) const final;
  std::vector<EstimatePart> measured_chain(const Task& task, const Parameters& parameters) const final;

 protected:
  struct Walk {
    Task task;
    double seconds_beside = 0;
    std::string beside = {};  // what the launches beside it do, for people
  };
  // None: the task is walked as it is.
  virtual std::optional<Walk> walk_of(const Task& task) const = 0;

  const Strategy& walk_;
};

// The task of launches beside a walk. They have no head of their own, so where heads walk in two directions
// they do their steps in the order of time, as all lies that a walk is given.
Task in_order_of_time(const Task& task);

}  // namespace rondo::schedule
