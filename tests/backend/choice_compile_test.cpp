// What is chosen without tuning, and so without a compiler's word, does not spill.
#include <gtest/gtest.h>

#include "runtime/choice/candidates.h"
#include "runtime/plan/compile.h"
#include "tests/runtime/plan/cells.h"

namespace rondo::runtime {
namespace {

// Odd channels of 16 bits: no copy is asynchronous, and all of a stage are under way in registers.
TEST(ChoicesWithoutTuning, OfOddChannelsDoNotSpill) {
  for (const char* name : {"sru", "paragru"}) {
    const auto cell = std::make_shared<const step::Cell>(rondo::testing::library_cell(name));
    schedule::Problem problem =
        rondo::testing::problem_of(schedule::Pass::ForwardSave, 33, kernel::Storage::BF16);
    problem.sizes = {1, 200, 2, 33};
    const target::Profile& profile = target::board();
    const auto chosen = best_candidate(*cell, problem, profile);
    ASSERT_TRUE(chosen.ok()) << chosen.error().message;
    EXPECT_FALSE(chosen->estimate.may_spill) << name;
    auto plan = schedule::find_strategy(chosen->strategy)->build(*cell, problem, chosen->parameters, profile);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    const auto compiled = compile_plan(cell, problem, std::move(plan).value());
    ASSERT_TRUE(compiled.ok()) << compiled.error().message << " (tools/setup installs NVRTC)";
    EXPECT_FALSE(compiled->spills()) << name << " " << schedule::print(chosen->parameters);
  }
}

}  // namespace
}  // namespace rondo::runtime
