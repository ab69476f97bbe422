// What the time of a plan is made of: it is timed beside plans that lack a part of it, in turns.
#pragma once

#include <string>
#include <vector>

#include "compiler/schedule/problem/task.h"
#include "engine/data/given_data.h"
#include "engine/emit/emit_stages.h"
#include "engine/machine/machine.h"
#include "engine/measure/samples.h"

namespace rondo::tuner {

// A plan without a part of it. Its results are wrong: it is for timing only.
struct PlanWithout {
  std::string what;    // "products", "clears", or a launch: "launch lstm_gradient_of_R"
  std::string beside;  // what else is left out, and from what it is compared with too; "" mostly
  schedule::KernelPlan plan;
};

// Plans without each part of the kernels (kernel/passes/ablate.h) that the plan has and, where the plan has
// several launches, without each of these. A launch that prepares words for which later ones wait stays.
// Where one of two launches is left out, the other starts without a graph, some 1 us earlier (DevicePlan).
// Clears are left out beside the exchange only.
std::vector<PlanWithout> plans_without(const schedule::KernelPlan& plan);

struct PartTime {
  std::string what, beside;
  engine::Timing timing;    // of the plan without it, seconds
  double difference_s = 0;  // what that saves; may be negative
};
struct PartTimes {
  engine::Choice choice;
  engine::Timing whole;
  std::vector<PartTime> parts;
};

// Times the choice for the problem on the machine's device, `rounds` samples each. Nothing is stored. Errors:
// Missing (no device, no compiler), Compile, Device.
Result<PartTimes> measure_parts(const schedule::Task& task, const engine::Machine& machine,
                                const engine::Choice& choice, int rounds,
                                const engine::Given& given = nullptr);

}  // namespace rondo::tuner
