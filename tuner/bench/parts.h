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

// In a fixed order plans that lack one thing more than the one before: first each launch beside the one that
// makes the steps, then each part of the kernels. `beside` of each is the one before. What the last one is
// left with are the loops of the steps, and the arithmetic of theirs that is no function. The launch that
// makes the steps is the first that waits for other blocks, else the first that computes functions, else the
// first.
std::vector<PlanWithout> plans_in_turn(const schedule::KernelPlan& plan);

// Plans without each part of the kernels (kernel/passes/ablate.h) that the plan has and, where the plan has
// several launches, without each of these. A launch that prepares words for which later ones wait stays.
// Where one of two launches is left out, the other starts without a graph, some 1 us earlier (DevicePlan).
// Clears are left out beside the exchange only, messages beside both, and barriers beside the three.
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
  // Asked for: of plans_in_turn(). No difference is negative: each is what the least time so far falls by, so
  // they and the last least time make the whole.
  std::vector<PartTime> in_turn;

  double rest_s() const;  // what is left when all of in_turn is left out
};

// The differences of plans_in_turn() from their times.
void take_in_turn(double whole_s, std::vector<PartTime>& in_turn);

enum class Parts { Alone, AloneAndInTurn };
// Times the choice for the problem on the machine's device, `rounds` samples each. Nothing is stored. Errors:
// Missing (no device, no compiler), Compile, Device.
Result<PartTimes> measure_parts(const schedule::Task& task, const engine::Machine& machine,
                                const engine::Choice& choice, int rounds,
                                const engine::Given& given = nullptr, Parts which = Parts::Alone);

}  // namespace rondo::tuner
