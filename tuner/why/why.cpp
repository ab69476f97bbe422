#include "tuner/why/why.h"

#include <algorithm>
#include <iterator>

#include "compiler/schedule/strategies.h"

namespace rondo::tuner {

double Explanation::share_of_floor() const {
  if (floors.empty() || seconds() <= 0) return 0;
  return std::min(1.0, floors.front().seconds / seconds());
}

namespace {

double starting_s(const std::vector<schedule::EstimatePart>& parts) {
  double seconds = 0;
  for (const schedule::EstimatePart& part : parts)
    if (part.of == schedule::EstimatePart::Of::Launches && part.name.rfind("launches", 0) == 0)
      seconds += part.seconds;
  return seconds;
}

// Who says what a chain is made of. A board may be calibrated and a strategy have no chain that is measured.
std::string chain_source(const schedule::Task& task, const std::string& strategy, bool calibrated) {
  if (calibrated) return "measured by calibrate";
  return task.profile.floors.empty() ? "the model's, not calibrated"
                                     : "the model's: calibrate measures no chain of " + strategy;
}

// The instructions by which the kernels multiply. On a board that was not calibrated nobody asks for them.
Result<std::vector<std::string>> instructions_of(const schedule::Task& task, const engine::Choice& choice) {
  if (task.profile.floors.empty() && !task.profile.is_cpu()) return std::vector<std::string>();
  const Result<schedule::KernelPlan> plan = engine::build_choice(task, choice);
  if (!plan) return plan.error();
  return product_instructions(*plan);
}

}  // namespace

Result<Explanation> explain(const schedule::Task& task, const engine::Machine& machine,
                            const engine::ReadyPlan& ready, int rounds, const engine::Given& given) {
  const schedule::Strategy& strategy = *schedule::find_strategy(ready.choice.strategy);
  const schedule::Parameters parameters = strategy.completed(ready.choice.parameters);
  Explanation why;
  why.choice = ready.choice;
  why.model_s = strategy.cost(task, parameters).seconds;
  why.copy_bytes_per_s = task.profile.speeds.copy_bytes_per_s;
  why.parts = strategy.parts(task, parameters);
  std::ranges::stable_sort(why.parts,
                           [](const auto& one, const auto& other) { return one.seconds > other.seconds; });
  why.chain = strategy.measured_chain(task, parameters);
  const bool calibrated = !why.chain.empty();
  if (!calibrated)
    std::ranges::copy_if(why.parts, std::back_inserter(why.chain), [](const schedule::EstimatePart& part) {
      return part.of == schedule::EstimatePart::Of::Chain;
    });
  PartTimes times;
  if (ready.plan) {
    BenchOptions options;
    options.samples = rounds;
    options.given = given;
    const Result<BenchRow> row = bench(task, machine, ready, options);
    if (!row) return row.error();
    why.copy_bytes_per_s = row->copy_bytes_per_s;
    Result<PartTimes> measured =
        measure_parts(task, machine, ready.choice, rounds, given, Parts::AloneAndInTurn);
    if (!measured) return measured.error();
    times = std::move(measured).value();
    why.measured = times.whole;  // what the parts add up to, rather than the row's: that was another run
    why.without = times.parts;
  }
  const Result<std::vector<std::string>> instructions = instructions_of(task, ready.choice);
  if (!instructions) return instructions.error();
  why.floors = floors(task, why.chain, why.copy_bytes_per_s, *instructions);
  for (Floor& floor : why.floors)
    if (floor.name == "chain") {
      floor.calibrated = calibrated;
      floor.source = chain_source(task, ready.choice.strategy, calibrated);
    }
  why.account =
      ready.plan ? account_of(times, why.floors, starting_s(why.parts)) : account_of(why.parts, why.model_s);
  if (ready.plan) why.excesses = excesses(why.account, why.chain, why.floors);
  why.changes = changes(task, ready.choice.strategy);
  return why;
}

}  // namespace rondo::tuner
