#include "tuner/measure/ready_plan.h"

#include <chrono>
#include <memory>

namespace rondo::tuner {

Result<ReadyPlan> make_ready(const step::Cell& cell, const schedule::Problem& problem, const Machine& machine,
                             const runtime::Overrides& overrides, const runtime::ChooseOptions& options) {
  if (Status status = machine.need_gpu(); !status) return status.error();
  const auto begin = std::chrono::steady_clock::now();
  Result<runtime::Choice> choice = runtime::choose_with(cell, problem, machine.profile, overrides, options);
  if (!choice) return choice.error();
  Result<schedule::KernelPlan> built = runtime::build_choice(cell, problem, machine.profile, *choice);
  if (!built) return built.error();
  runtime::CompileOptions compiling;
  compiling.database = options.database;
  compiling.cubin_key = choice->cubin_key;
  auto compiled = runtime::compile_plan(std::make_shared<const step::Cell>(cell), problem,
                                        std::move(built).value(), compiling);
  if (!compiled) return compiled.error();
  Result<runtime::DevicePlan> plan = runtime::DevicePlan::load(compiled->executable, *machine.context);
  if (!plan) return plan.error();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return ReadyPlan{std::move(choice).value(), std::move(compiled).value(), std::move(plan).value(),
                   took.count()};
}

}  // namespace rondo::tuner
