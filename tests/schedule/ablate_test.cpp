// Kernels without one of their parts: what is gone, and that the rest comes to its end.
#include <gtest/gtest.h>

#include <limits>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/verify/verify.h"
#include "tests/schedule/part_plans.h"

namespace rondo::schedule {
namespace {

using kernel::Fault;
using kernel::Part;

std::string text_of(const KernelPlan& plan) {
  std::string text;
  for (const Launch& launch : plan.launches) text += kernel::print(launch.kernel);
  return text;
}

// How the statements of a part begin in printed kernels.
std::vector<std::string> statements_of(Part part, const PartPlan& plan) {
  const bool forward = plan.problem.pass != Pass::Backward;
  switch (part) {
    case Part::Products: return {"mma."};
    case Part::Exchange: return {"load_self_flagged ", "grid_wait", "cluster_barrier"};
    case Part::Clears: return {"grid_fence"};
    case Part::Inputs: return {"copy_async", "commit_copies", "wait_copies"};
    case Part::Stores: return {forward ? "store.packed h_out[" : "store.packed grad_x[", "store h_out["};
    case Part::Functions: return {"tanh(", "sigmoid("};
    case Part::Messages: return {"load_self_flagged", "store_self_flagged", "grid_arrive", "store_async"};
    case Part::Barriers: return {"barrier"};
  }
  return {};
}

bool holds_any(const std::string& text, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return text.find(word) != std::string::npos; });
}

SimulatedRun run(const PartPlan& of, const KernelPlan& plan) {
  kernel::SimulationOptions options;
  options.max_faults = std::numeric_limits<int>::max();
  options.step_limit = 50'000'000;
  return simulate_plan({of.cell, of.problem, {}}, plan, values_read(of), 0, options);
}

// Races and values that nobody wrote are what leaving parts out makes; these are not.
bool is_fatal(Fault::Kind kind) {
  return kind == Fault::Kind::Deadlock || kind == Fault::Kind::StepLimit || kind == Fault::Kind::OutOfRange ||
         kind == Fault::Kind::Misaligned || kind == Fault::Kind::ReadOnly;
}

void expect_ends(const PartPlan& of, const KernelPlan& plan, const std::string& what) {
  const SimulatedRun ran = run(of, plan);
  for (std::size_t i = 0; i < ran.kinds.size(); ++i)
    EXPECT_FALSE(is_fatal(ran.kinds[i])) << what << ": " << ran.faults[i];
}

// What is sent and waited for among blocks has words of both.
bool goes_with(Part other, Part part) {
  const auto sends = [](Part p) { return p == Part::Exchange || p == Part::Messages || p == Part::Barriers; };
  return sends(other) && sends(part);
}

class Ablate : public ::testing::TestWithParam<int> {
 protected:
  const PartPlan of_ = part_plans()[static_cast<std::size_t>(GetParam())];
};

TEST_P(Ablate, TheWholeIsClean) {
  const SimulatedRun ran = run(of_, of_.plan);
  EXPECT_TRUE(ran.faults.empty()) << ran.faults.front();
}

TEST_P(Ablate, OnlyThePartGoes) {
  for (const Part part : kernel::kParts) {
    const std::string what = of_.name + " without " + kernel::part_name(part);
    const KernelPlan rest = plan_without(of_.plan, part);
    const std::string before = text_of(of_.plan), after = text_of(rest);
    EXPECT_EQ(before != after, of_.parts.contains(part)) << what;
    if (before == after) continue;
    EXPECT_TRUE(holds_any(before, statements_of(part, of_)))
        << what << ": the test looks for the wrong words";
    EXPECT_TRUE(part == Part::Barriers ||  // of which those before the loops stay
                !holds_any(after, statements_of(part, of_)))
        << what << "\n"
        << after;
    for (const Part other : of_.parts) {
      if (other == part || goes_with(other, part)) continue;
      EXPECT_TRUE(holds_any(after, statements_of(other, of_)))
          << what << " lacks " << kernel::part_name(other) << " too";
    }
    for (const Launch& launch : rest.launches) {
      const std::vector<std::string> defects = kernel::verify(launch.kernel);
      EXPECT_TRUE(defects.empty()) << what << ": " << defects.front();
    }
  }
}

TEST_P(Ablate, TheRestComesToItsEnd) {
  for (const Part part : of_.parts) {
    if (part == Part::Clears || part == Part::Messages || part == Part::Barriers) continue;
    expect_ends(of_, plan_without(of_.plan, part), of_.name + " without " + kernel::part_name(part));
  }
  KernelPlan fewer = plan_without(of_.plan, Part::Exchange);
  for (const Part part : {Part::Clears, Part::Messages, Part::Barriers}) {
    if (!of_.parts.contains(part)) continue;
    fewer = plan_without(fewer, part);
    expect_ends(of_, fewer, of_.name + " without exchange to " + kernel::part_name(part));
  }
}

// Nobody is waited for: a block whose peers never begin would come to its end all the same.
TEST_P(Ablate, WithoutExchangeNothingGoesToOtherBlocks) {
  const KernelPlan rest = plan_without(of_.plan, Part::Exchange);
  int sends = 0;
  for (const Launch& launch : rest.launches) {
    const std::string text = kernel::print(launch.kernel);
    for (std::size_t at = text.find("store_async"); at != std::string::npos;
         at = text.find("store_async", at + 1)) {
      const std::string line = text.substr(at, text.find('\n', at) - at);
      EXPECT_NE(line.find(" of block cluster_rank = "), std::string::npos) << line;
      ++sends;
    }
  }
  const bool in_cluster = std::any_of(rest.launches.begin(), rest.launches.end(),
                                      [](const Launch& launch) { return launch.kernel.cluster > 1; });
  EXPECT_EQ(sends > 0, in_cluster);
}

INSTANTIATE_TEST_SUITE_P(Plans, Ablate, ::testing::Range(0, static_cast<int>(part_plans().size())),
                         [](const auto& test) {
                           return part_plans()[static_cast<std::size_t>(test.param)].name;
                         });

}  // namespace
}  // namespace rondo::schedule
