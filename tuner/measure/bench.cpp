#include "tuner/measure/bench.h"

#include <chrono>
#include <memory>

#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "runtime/plan/plan.h"
#include "tuner/measure/measure.h"

namespace rondo::tuner {
namespace {

Result<runtime::DevicePlan> load(const step::Cell& cell, const schedule::Problem& problem,
                                 const runtime::Choice& choice, const Machine& machine,
                                 db::Database* database, bool& from_cache) {
  Result<schedule::KernelPlan> built = runtime::build_choice(cell, problem, choice);
  if (!built) return built.error();
  runtime::CompileOptions options;
  options.database = database;
  options.cubin_key = choice.cubin_key;
  const auto compiled = runtime::compile_plan(std::make_shared<const step::Cell>(cell), problem,
                                              std::move(built).value(), options);
  if (!compiled) return compiled.error();
  from_cache = compiled->from_cache;
  return runtime::DevicePlan::load(*compiled, *machine.context);
}

}  // namespace

Result<BenchRow> bench(const step::Cell& cell, const schedule::Problem& problem, const Machine& machine,
                       const runtime::Overrides& overrides, db::Database* database, int samples,
                       double copy_bytes_per_s) {
  if (Status status = machine.need_gpu(); !status) return status.error();
  const auto begin = std::chrono::steady_clock::now();
  bool from_cache = false;
  runtime::ChooseOptions options;
  options.database = database;
  Result<runtime::Choice> choice = runtime::choose_with(cell, problem, machine.profile, overrides, options);
  if (!choice) return choice.error();
  const Result<runtime::DevicePlan> plan = load(cell, problem, *choice, machine, database, from_cache);
  if (!plan) return plan.error();
  const std::chrono::duration<double> ready = std::chrono::steady_clock::now() - begin;
  Result<EventTimer> timer = EventTimer::make();
  if (!timer) return timer.error();
  if (copy_bytes_per_s <= 0) {
    const Result<double> copy = copy_bandwidth(*timer);
    if (!copy) return copy.error();
    copy_bytes_per_s = *copy;
  }
  Result<RunData> data = RunData::make(cell, problem, machine.profile.limits.l2_bytes, timer->stream(), 1);
  if (!data) return data.error();
  if (Status status = data->reserve(*plan); !status) return status.error();
  TimingPlan timing;
  timing.warm_up = 3;
  timing.samples = samples;
  timing.sample_s = 2e-3;
  timing.sets = data->sets();
  const Result<std::vector<double>> seconds = timer->time(data->work(*plan), timing);
  if (!seconds) return seconds.error();
  if (Status status = plan->check(); !status) return status.error();
  return BenchRow{cell.name,
                  cell.clip,
                  problem,
                  std::move(choice).value(),
                  timing_of(*seconds),
                  schedule::compulsory_bytes(cell, problem),
                  copy_bytes_per_s,
                  ready.count(),
                  from_cache};
}

}  // namespace rondo::tuner
