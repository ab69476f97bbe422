#include "tuner/bench/parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <thread>

#include "compiler/backend/backends.h"
#include "compiler/kernel/passes/ablate.h"
#include "engine/measure/measure.h"
#include "engine/plan/compile.h"
#include "engine/plan/ready_plan.h"
#include "engine/worker/compile_worker.h"

namespace rondo::tuner {

using kernel::Part;
using schedule::KernelPlan;
using schedule::Launch;

namespace {

constexpr double kSample = 2e-3;  // seconds
constexpr double kMostRepetitions = 200;
constexpr std::chrono::milliseconds kCompileLimit{120000};

bool has(const KernelPlan& plan, Part part) {
  return std::ranges::any_of(plan.launches,
                             [&](const Launch& launch) { return kernel::has_part(launch.kernel, part); });
}

KernelPlan without(KernelPlan plan, Part part) {
  for (Launch& launch : plan.launches) launch.kernel = kernel::ablate(std::move(launch.kernel), part);
  return plan;
}

// Whether others wait for what this launch leaves.
bool is_waited_for(const Launch& launch) {
  return !launch.kernel.cooperative && std::ranges::any_of(launch.arguments, [](const auto& argument) {
    const auto* pointer = std::get_if<schedule::Pointer>(&argument);
    return pointer != nullptr && pointer->tensor.role == schedule::Role::Exchange;
  });
}

KernelPlan without_launch(KernelPlan plan, std::size_t launch) {
  plan.launches.erase(plan.launches.begin() + static_cast<std::ptrdiff_t>(launch));
  return plan;
}

std::string launch_part(const Launch& launch) { return "launch " + launch.kernel.name; }

std::size_t launch_of_steps(const KernelPlan& plan) {
  for (const Part part : {Part::Exchange, Part::Functions})
    for (std::size_t i = 0; i < plan.launches.size(); ++i)
      if (!is_waited_for(plan.launches[i]) && kernel::has_part(plan.launches[i].kernel, part)) return i;
  for (std::size_t i = 0; i < plan.launches.size(); ++i)
    if (!is_waited_for(plan.launches[i])) return i;
  return 0;
}

// Each of these is left out beside those before it that the plan has.
constexpr std::array kBeside = {Part::Exchange, Part::Clears, Part::Messages, Part::Barriers};

// What is computed from a part goes before it, for without the part it would go too: results and messages
// show products, and barriers order both. Backward nothing but messages shows some products.
constexpr std::array kInTurn = {Part::Stores, Part::Inputs,   Part::Functions, Part::Exchange,
                                Part::Clears, Part::Products, Part::Messages,  Part::Barriers};
static_assert(kInTurn.size() == kernel::kParts.size());

}  // namespace

std::vector<PlanWithout> plans_in_turn(const KernelPlan& plan) {
  std::vector<PlanWithout> result;
  const auto add = [&](const std::string& what, KernelPlan rest) {
    result.push_back({what, result.empty() ? "" : result.back().what, std::move(rest)});
  };
  const auto so_far = [&] { return result.empty() ? plan : result.back().plan; };
  for (std::size_t i = plan.launches.size(); i-- > 0;) {
    const std::size_t of_steps = launch_of_steps(plan);
    if (i == of_steps || is_waited_for(plan.launches[i])) continue;
    add(launch_part(plan.launches[i]),
        without_launch(so_far(), i));  // from the end: those before keep places
  }
  for (const Part part : kInTurn)
    if (has(so_far(), part)) add(kernel::part_name(part), without(so_far(), part));
  return result;
}

void take_in_turn(double whole_s, std::vector<PartTime>& in_turn) {
  double least = whole_s;
  for (PartTime& part : in_turn) {
    const double now = std::min(least, part.timing.median_s);
    part.difference_s = least - now;
    least = now;
  }
}

double PartTimes::rest_s() const {
  double rest = whole.median_s;
  for (const PartTime& part : in_turn) rest -= part.difference_s;
  return rest;
}

std::vector<PlanWithout> plans_without(const KernelPlan& plan) {
  std::vector<PlanWithout> result;
  for (const Part part : kernel::kParts)
    if (std::ranges::find(kBeside, part) == kBeside.end() && has(plan, part))
      result.push_back({kernel::part_name(part), "", without(plan, part)});
  KernelPlan fewer = plan;
  std::string last;
  for (const Part part : kBeside)
    if (has(fewer, part)) {
      fewer = without(std::move(fewer), part);
      result.push_back({kernel::part_name(part), last, fewer});
      last = kernel::part_name(part);
    }
  for (std::size_t i = 0; plan.launches.size() > 1 && i < plan.launches.size(); ++i) {
    if (is_waited_for(plan.launches[i])) continue;
    result.push_back({launch_part(plan.launches[i]), "", without_launch(plan, i)});
  }
  return result;
}

namespace {

// Compiles all of them in worker processes, or here where there are none. Neither reads nor writes a
// database.
Status compile_all(std::vector<engine::CompiledPlan>& plans) {
  engine::CompilePoolOptions options;
  options.workers = std::clamp(static_cast<int>(std::thread::hardware_concurrency()) - 1, 1, 16);
  options.limit = kCompileLimit;
  engine::CompilePool pool(options);
  for (std::size_t i = 0; i < plans.size(); ++i) pool.submit({i, plans[i].request});
  while (pool.pending() > 0) {
    std::optional<engine::CompileOutcome> outcome = pool.next(kCompileLimit);
    if (!outcome) continue;
    engine::CompiledPlan& plan = plans[static_cast<std::size_t>(outcome->id)];
    if (outcome->end == engine::CompileEnd::NoWorker) outcome->result = backend::compile(plan.request);
    if (!outcome->result) return outcome->result.error();
    if (Status status = engine::attach_code(plan, std::move(outcome->result).value()); !status) return status;
  }
  return success();
}

using LoadedParts = std::unique_ptr<runtime::LoadedPlan>;

// One sample of each plan after the other, again and again: what changes with time changes all of them.
Result<std::vector<std::vector<double>>> time_in_turns(const std::vector<LoadedParts>& plans,
                                                       engine::RunData& data, engine::Timer& timer,
                                                       int rounds) {
  for (const LoadedParts& plan : plans)  // all first: works keep the workspace's address
    if (Status status = data.reserve(*plan); !status) return status.error();
  std::vector<std::vector<double>> samples(plans.size());
  std::vector<double> expected(plans.size(), kSample);
  for (int round = -2; round < rounds; ++round)  // two to warm up: the first also loads the code
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const double wanted = std::ceil(kSample / std::max(expected[i], 1e-7));
      const int repetitions = static_cast<int>(std::clamp(wanted, 1.0, kMostRepetitions));
      const Result<double> seconds = timer.sample(data.work(*plans[i]), repetitions, data.sets());
      if (!seconds) return seconds.error();
      if (Status status = plans[i]->check(); !status) return status.error();
      expected[i] = *seconds;
      if (round >= 0) samples[i].push_back(*seconds);
    }
  return samples;
}

// The first `alone` of `without` are those of plans_without(), the others of plans_in_turn().
PartTimes part_times(engine::Choice choice, const std::vector<PlanWithout>& without, std::size_t alone,
                     const std::vector<std::vector<double>>& samples) {
  PartTimes result{std::move(choice), engine::timing_of(samples[0]), {}, {}};
  for (std::size_t i = 0; i < without.size(); ++i)
    (i < alone ? result.parts : result.in_turn)
        .push_back({without[i].what, without[i].beside, engine::timing_of(samples[i + 1]), 0});
  take_in_turn(result.whole.median_s, result.in_turn);
  for (PartTime& part : result.parts) {
    const auto beside =
        std::ranges::find_if(result.parts, [&](const PartTime& other) { return other.what == part.beside; });
    const engine::Timing& more = beside == result.parts.end() ? result.whole : beside->timing;
    part.difference_s = more.median_s - part.timing.median_s;
  }
  return result;
}

}  // namespace

Result<PartTimes> measure_parts(const schedule::Task& task, const engine::Machine& machine,
                                const engine::Choice& choice, int rounds, const engine::Given& given,
                                Parts which) {
  if (Status status = machine.need_device(); !status) return status.error();
  Result<KernelPlan> whole = engine::build_choice(task, choice);
  if (!whole) return whole.error();
  const backend::Backend& backend = backend::preferred_backend_for(task.profile.target);
  const Result<std::string> version = backend.version();
  if (!version) return version.error();

  std::vector<PlanWithout> without = plans_without(*whole);
  const std::size_t alone = without.size();
  if (which == Parts::AloneAndInTurn)
    for (PlanWithout& plan : plans_in_turn(*whole)) without.push_back(std::move(plan));
  const auto shared = std::make_shared<const schedule::Task>(task);
  std::vector<engine::CompiledPlan> compiled;
  const auto add = [&](KernelPlan plan) -> Status {
    Result<engine::CompiledPlan> made = engine::uncompiled_plan(shared, std::move(plan), backend, *version);
    if (!made) return made.error();
    compiled.push_back(std::move(made).value());
    return success();
  };
  if (Status status = add(std::move(*whole)); !status) return status.error();
  for (const PlanWithout& part : without)
    if (Status status = add(part.plan); !status) return status.error();
  if (Status status = compile_all(compiled); !status) return status.error();

  std::vector<LoadedParts> plans;
  for (const engine::CompiledPlan& plan : compiled) {
    Result<LoadedParts> loaded = machine.device->load(plan.executable);
    if (!loaded) return loaded.error();
    plans.push_back(std::move(loaded).value());
  }
  engine::Timer timer(*machine.device);
  Result<engine::RunData> data = engine::RunData::make(task, engine::cache_to_leave(machine.profile),
                                                       *machine.device, 1, engine::RunData::kWeights, given);
  if (!data) return data.error();
  const auto samples = time_in_turns(plans, *data, timer, rounds);
  if (!samples) return samples.error();
  return part_times(choice, without, alone, *samples);
}

}  // namespace rondo::tuner
