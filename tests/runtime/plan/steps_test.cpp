// Plans with launches for each time step: order, step numbers, and the places of what steps leave for each
// other.
#include <cstring>

#include "compiler/schedule/strategies.h"
#include "runtime/plan/arguments.h"
#include "tests/runtime/plan/cells.h"

namespace rondo::runtime {
namespace {

using schedule::Pass;
using schedule::Role;

struct Start {
  std::size_t index;
  std::vector<std::int64_t> values;
};

class Recorder final : public LaunchSink {
 public:
  Status zero(DeviceAddress, std::int64_t) override { return success(); }
  Status launch(std::size_t index, std::int64_t, std::span<void* const> arguments) override {
    Start start{index, {}};
    for (void* argument : arguments) {
      std::int64_t value = 0;
      std::memcpy(&value, argument, sizeof value);
      start.values.push_back(value);
    }
    starts.push_back(std::move(start));
    return success();
  }
  std::vector<Start> starts;
};

struct Fixture {
  step::Cell cell = testing::library_cell("mgu");
  schedule::Problem problem;
  schedule::KernelPlan plan;
  PlanArguments arguments;

  explicit Fixture(Pass pass)
      : problem(testing::problem_of(pass)),
        plan(schedule::find_strategy("alternating")
                 ->build(cell, problem,
                         {{"units", 16}, {"batch_tiles", 1}, {"warps", 2}, {"stages", 2}, {"vector", 8}},
                         target::board())),
        arguments(PlanArguments::make(cell, problem, plan).value()) {}

  Recorder run(std::int64_t batch, std::int64_t time) const {
    Bindings bindings;
    DeviceAddress next = DeviceAddress{1} << 30;
    for (const PlanTensor& tensor : arguments.tensors())
      bindings.set(tensor.ref, next += DeviceAddress{1} << 30);
    bindings.set_workspace(next + (DeviceAddress{1} << 30));
    Recorder recorder;
    const Status status = arguments.launch(recorder, bindings, batch, time);
    EXPECT_TRUE(status.ok()) << status.error().message;
    return recorder;
  }

  // Argument of a start, by its kind.
  template <class Kind>
  std::int64_t value(const Start& start) const {
    const auto& arguments_of = plan.launches[start.index].arguments;
    for (std::size_t i = 0; i < arguments_of.size(); ++i)
      if (std::holds_alternative<Kind>(arguments_of[i])) return static_cast<std::int32_t>(start.values[i]);
    return -1;
  }
};

TEST(PlanSteps, TheSectionRunsOnceAStepBetweenWhatRunsOnce) {
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
    const Fixture f(pass);
    std::vector<std::size_t> before, section, after;
    for (std::size_t k = 0; k < f.plan.launches.size(); ++k)
      (f.plan.launches[k].each_step ? section : section.empty() ? before : after).push_back(k);
    ASSERT_EQ(section.size(), 2u) << "mgu has two levels of products";
    EXPECT_EQ(after.empty(), pass != Pass::Backward);
    std::vector<std::pair<std::size_t, std::int64_t>> want;  // launch and step
    for (const std::size_t k : before) want.emplace_back(k, -1);
    for (std::int64_t step = 0; step < 5; ++step)
      for (const std::size_t k : section) want.emplace_back(k, step);
    for (const std::size_t k : after) want.emplace_back(k, -1);
    const Recorder recorder = f.run(3, 5);
    std::vector<std::pair<std::size_t, std::int64_t>> got;
    for (const Start& start : recorder.starts)
      got.emplace_back(start.index, f.value<schedule::StepCount>(start));
    EXPECT_EQ(got, want);
    EXPECT_EQ(f.arguments.starts(5), static_cast<std::int64_t>(want.size()));
    EXPECT_TRUE(f.arguments.has_steps());
  }
}

TEST(PlanSteps, WhatStepsLeaveForEachOtherLiesApart) {
  const Fixture f(Pass::Backward);
  const std::int64_t batch = 3, time = 5;
  const Recorder recorder = f.run(batch, time);
  std::map<Role, std::pair<std::int64_t, std::int64_t>> places;  // begin and end in the workspace
  for (const Start& start : recorder.starts) {
    const auto& arguments = f.plan.launches[start.index].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto* pointer = std::get_if<schedule::Pointer>(&arguments[i]);
      if (pointer == nullptr || !schedule::is_kept(pointer->tensor.role)) continue;
      const Role role = pointer->tensor.role;
      const std::int64_t bytes = kept_extent(f.plan, role).elements(batch) * (role == Role::Carries ? 4 : 2);
      const std::pair place{start.values[i], start.values[i] + bytes};
      EXPECT_EQ(places.emplace(role, place).first->second, place) << "it moves between launches";
      EXPECT_EQ(start.values[i] % 256, 0);
    }
  }
  ASSERT_EQ(places.size(), 3u);
  EXPECT_LE(places[Role::Packed].second, places[Role::Vectors].first);
  EXPECT_LE(places[Role::Vectors].second, places[Role::Carries].first);
  EXPECT_GE(f.arguments.workspace_bytes(batch, time),
            places[Role::Carries].second - places[Role::Packed].first);
}

TEST(PlanSteps, OtherPlansHaveNone) {
  const step::Cell cell = testing::library_cell("paragru");
  const schedule::Problem problem = testing::problem_of(Pass::Backward);
  const auto arguments = PlanArguments::make(cell, problem, testing::stream_plan(cell, problem));
  ASSERT_TRUE(arguments.ok());
  EXPECT_FALSE(arguments->has_steps());
  EXPECT_EQ(arguments->starts(100), arguments->starts(1));
}

}  // namespace
}  // namespace rondo::runtime
