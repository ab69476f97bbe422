// Plans with launches for each time step: order, step numbers, and the places of what steps leave for each
// other.
#include <algorithm>
#include <cstring>

#include "compiler/executable/launcher.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/forms.h"
#include "tests/engine/plan/cells.h"
#include "tests/executable/recorder.h"
#include "tests/schedule/point_plan.h"

namespace rondo::executable {
namespace {

using schedule::Pass;

using testing::Recorder;

struct StepsFixture {
  step::Cell cell;
  schedule::Problem problem;
  schedule::KernelPlan plan;
  Launcher launcher;

  explicit StepsFixture(Pass pass, const step::Forms& forms = {})
      : cell(step::with_forms(rondo::testing::library_cell("mgu"), forms).value()),
        problem(rondo::testing::problem_of(pass)),
        plan(schedule::point_plan(
            *schedule::find_strategy("alternating"), cell, problem,
            {{"units", 16}, {"batch_tiles", 1}, {"warps", 2}, {"stages", 2}, {"vector", 8}})),
        launcher(rondo::testing::launcher_of(cell, problem, plan)) {}

  Recorder run(std::int64_t batch, std::int64_t time) const {
    Bindings bindings;
    Address next = Address{1} << 30;
    for (const Tensor& tensor : launcher.tensors()) bindings.set(tensor.ref, next += Address{1} << 30);
    bindings.set_workspace(next + (Address{1} << 30));
    Recorder recorder;
    const Status status = launcher.launch(recorder, bindings, batch, time);
    EXPECT_TRUE(status.ok()) << status.error().message;
    return recorder;
  }

  // Argument of a start, by its kind.
  template <class Kind>
  std::int64_t value(const Recorder::Call& start) const {
    const auto& arguments_of = plan.launches[start.index].arguments;
    for (std::size_t i = 0; i < arguments_of.size(); ++i)
      if (std::holds_alternative<Kind>(arguments_of[i])) return static_cast<std::int32_t>(start.values[i]);
    return -1;
  }
};

TEST(LauncherSteps, TheSectionRunsOnceAStepBetweenWhatRunsOnce) {
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
    const StepsFixture f(pass);
    std::vector<std::size_t> before, section, after;
    for (std::size_t k = 0; k < f.plan.launches.size(); ++k)
      ((f.plan.launches[k].repetition.kind == Repetition::Kind::EachStep) ? section
       : section.empty()                                                  ? before
                                                                          : after)
          .push_back(k);
    ASSERT_EQ(section.size(), 2u) << "mgu has two levels of products";
    EXPECT_EQ(after.empty(), pass != Pass::Backward);
    std::vector<std::pair<std::size_t, std::int64_t>> want;  // launch and step
    for (const std::size_t k : before) want.emplace_back(k, -1);
    for (std::int64_t step = 0; step < 5; ++step)
      for (const std::size_t k : section) want.emplace_back(k, step);
    for (const std::size_t k : after) want.emplace_back(k, -1);
    const Recorder recorder = f.run(3, 5);
    std::vector<std::pair<std::size_t, std::int64_t>> got;
    for (const Recorder::Call& start : recorder.calls)
      got.emplace_back(start.index, f.value<schedule::StepCount>(start));
    EXPECT_EQ(got, want);
    EXPECT_EQ(f.launcher.starts(3, 5), static_cast<std::int64_t>(want.size()));
    EXPECT_TRUE(f.launcher.repeats());
  }
}

TEST(LauncherSteps, WhatStepsLeaveForEachOtherLiesApart) {
  const StepsFixture f(Pass::Backward);
  const std::int64_t batch = 3, time = 5;
  const Recorder recorder = f.run(batch, time);
  std::map<Role, std::pair<std::int64_t, std::int64_t>> places;  // begin and end in the workspace
  for (const Recorder::Call& start : recorder.calls) {
    const auto& arguments = f.plan.launches[start.index].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto* pointer = std::get_if<schedule::Pointer>(&arguments[i]);
      if (pointer == nullptr || !schedule::is_kept(pointer->tensor.role)) continue;
      const Role role = pointer->tensor.role;
      const std::int64_t bytes = schedule::internal_size(f.plan, f.problem, {role, -1}).at(batch, time) *
                                 (role == Role::Carries ? 4 : 2);
      const std::pair place{start.values[i], start.values[i] + bytes};
      EXPECT_EQ(places.emplace(role, place).first->second, place) << "it moves between launches";
      EXPECT_EQ(start.values[i] % 256, 0);
    }
  }
  ASSERT_EQ(places.size(), 3u);
  EXPECT_LE(places[Role::Packed].second, places[Role::Vectors].first);
  EXPECT_LE(places[Role::Vectors].second, places[Role::Carries].first);
  EXPECT_GE(f.launcher.workspace_bytes(batch, time),
            places[Role::Carries].second - places[Role::Packed].first);
}

// Of a reversed cell, kernels are given the place of the last step and strides of the other sign; what
// launches leave for each other stays in the order of the walk, and so turns where it lies in such a tensor.
TEST(LauncherSteps, ReversedTimeBeginsAtTheLastStep) {
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
    const StepsFixture f(pass), back(pass, {false, false, true});
    const Recorder straight = f.run(3, 5), reversed = back.run(3, 5);
    ASSERT_EQ(straight.calls.size(), reversed.calls.size());
    bool moved = false;
    for (std::size_t call = 0; call < straight.calls.size(); ++call) {
      const auto& arguments = f.plan.launches[straight.calls[call].index].arguments;
      const std::vector<std::int64_t>& before = straight.calls[call].values;
      const std::vector<std::int64_t>& after = reversed.calls[call].values;
      ASSERT_EQ(before.size(), after.size());
      for (std::size_t i = 0; i < before.size(); ++i) {
        const auto* pointer = std::get_if<schedule::Pointer>(&arguments[i]);
        const auto* stride = std::get_if<schedule::StrideT>(&arguments[i]);
        const auto turned = [&](const TensorRef& ref) {
          const bool in_result = f.plan.in_result && ref == f.plan.in_result->scratch;
          return has_time_axis(ref.role) && (!is_internal(ref.role) || in_result);
        };
        if (stride != nullptr && turned(stride->tensor)) {
          EXPECT_EQ(static_cast<std::int32_t>(after[i]), -static_cast<std::int32_t>(before[i]));
        } else if (pointer != nullptr && turned(pointer->tensor)) {
          const auto tensor = std::find_if(f.launcher.tensors().begin(), f.launcher.tensors().end(),
                                           [&](const Tensor& t) { return t.ref == pointer->tensor; });
          const std::int32_t result = tensor->lies_in;
          const Tensor& of = result < 0 ? *tensor : f.launcher.tensors()[static_cast<std::size_t>(result)];
          const std::int64_t bytes = of.unit * scalar::storage_bytes(of.storage);
          EXPECT_EQ(after[i] - before[i], 4 * bytes) << tensor->name;
          moved = true;
        } else {
          EXPECT_EQ(after[i], before[i]);
        }
      }
    }
    EXPECT_TRUE(moved);
  }
}

// A section that repeats until a word is set: the sink is asked after each turn, and `most` is the bound.
TEST(LauncherSteps, UntilAConditionHolds) {
  Executable executable;
  Tensor& done = executable.tensors.emplace_back();
  done.ref = {Role::Exchange, -1};
  done.name = "done";
  done.storage = scalar::Storage::I32;
  done.alignment = 4;
  done.size.fixed = 1;
  executable.kernels.resize(3);
  for (Kernel& kernel : executable.kernels) kernel.name = "k";
  const Repetition until{Repetition::Kind::Until, 5, 0};
  const Argument step{Argument::Kind::StepCount, 4, 0};
  executable.launches = {{0, {{1}}, until, {step}}, {1, {{1}}, until, {step}}, {2, {{1}}, {}, {}}};
  const Launcher launcher = Launcher::make(executable).value();
  EXPECT_TRUE(launcher.repeats());
  EXPECT_EQ(launcher.starts(1, 100), 5 + 5 + 1);
  Bindings bindings;
  bindings.set_workspace(0x1000);
  const auto indices = [&](std::size_t holds_after) {
    Recorder recorder;
    recorder.holds_after = holds_after;
    EXPECT_TRUE(launcher.launch(recorder, bindings, 1, 1).ok());
    for (const Address asked : recorder.asked) EXPECT_EQ(asked, 0x1000u);
    std::vector<std::size_t> result;
    for (const Recorder::Call& call : recorder.calls) result.push_back(call.index);
    return result;
  };
  EXPECT_EQ(indices(1), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(indices(3), (std::vector<std::size_t>{0, 1, 0, 1, 0, 1, 2}));
  EXPECT_EQ(indices(99).size(), 11u) << "a sink that cannot tell runs all of them";
}

TEST(LauncherSteps, OtherPlansHaveNone) {
  const step::Cell cell = rondo::testing::library_cell("paragru");
  const schedule::Problem problem = rondo::testing::problem_of(Pass::Backward);
  const Launcher launcher =
      rondo::testing::launcher_of(cell, problem, rondo::testing::stream_plan(cell, problem));
  EXPECT_FALSE(launcher.repeats());
  EXPECT_EQ(launcher.starts(1, 100), launcher.starts(1, 1));
}

// Two tiles of 8 batch rows at a time, after a launch that takes all rows at once.
TEST(LauncherSteps, PartsOfALaunchAreStartsOfTheirOwn) {
  Executable executable;
  executable.kernels.resize(2);
  for (Kernel& kernel : executable.kernels) kernel.name = "k";
  Grid whole, parts;
  whole.blocks.each = parts.blocks.each = 4;
  whole.blocks.batch_tile = parts.blocks.batch_tile = 8;
  parts.tiles_together = 2;
  executable.launches = {{0, whole, {}, {}}, {1, parts, {}, {}}};
  const Launcher launcher = Launcher::make(executable).value();
  for (const auto& [batch, starts] : {std::pair{1, 2}, {16, 2}, {17, 3}, {100'000, 1 + 6250}}) {
    EXPECT_EQ(launcher.starts(batch, 5), starts) << batch;
    Recorder recorder;
    EXPECT_TRUE(launcher.launch(recorder, {}, batch, 5).ok());
    EXPECT_EQ(recorder.calls.size(), static_cast<std::size_t>(starts)) << batch;
  }
}

}  // namespace
}  // namespace rondo::executable
