// A strategy that a test's program brings itself.
#pragma once

#include <string>

#include "compiler/schedule/strategies.h"

namespace rondo::testing {

// Streams under another name. What a program brings itself may change while the build's id stays.
class Borrowed final : public schedule::Strategy {
 public:
  std::string name() const override { return "borrowed"; }
  schedule::Legality serves(const target::Profile& profile) const override { return of().serves(profile); }
  schedule::Legality legal(const schedule::Task& task) const override { return of().legal(task); }
  constraint::System space(const schedule::Task& task) const override { return of().space(task); }
  schedule::CostModel cost_model(const schedule::Task& task) const override { return of().cost_model(task); }
  int alignment(const schedule::Problem& problem, const schedule::Parameters& parameters) const override {
    return of().alignment(problem, parameters);
  }
  schedule::KernelPlan build_kernels(const schedule::Task& task,
                                     const schedule::Parameters& parameters) const override {
    schedule::KernelPlan plan = of().build_kernels(task, parameters);
    plan.strategy = name();
    return plan;
  }

 private:
  static const schedule::Strategy& of() { return *schedule::find_strategy("stream"); }
};

}  // namespace rondo::testing
