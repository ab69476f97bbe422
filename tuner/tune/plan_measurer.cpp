#include "tuner/tune/plan_measurer.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "compiler/executable/serialise.h"
#include "compiler/schedule/plan/asked.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/strategies.h"
#include "engine/check/plain.h"
#include "tuner/trial/device_trials.h"
#include "tuner/trial/process.h"

namespace rondo::tuner {

using db::TrialStatus;

PlanMeasurer::PlanMeasurer(const schedule::Task& task, const std::vector<engine::Candidate>& candidates,
                           const PlanMeasurerOptions& options)
    : task_(std::make_shared<const schedule::Task>(task)),
      candidates_(candidates),
      options_(options),
      asked_(schedule::asked_hash(task)) {
  options_.workers = std::max(1, options_.workers);
}

Result<std::unique_ptr<PlanMeasurer>> PlanMeasurer::make(const schedule::Task& task,
                                                         const std::vector<engine::Candidate>& candidates,
                                                         std::shared_ptr<const runtime::Device> device,
                                                         const PlanMeasurerOptions& options) {
  std::unique_ptr<PlanMeasurer> made(new PlanMeasurer(task, candidates, options));
  const backend::Backend& preferred = backend::preferred_backend_for(task.profile.target);
  Result<std::string> version = preferred.version();
  if (!version) return version.error();
  made->compiler_ = {&preferred, std::move(version).value()};
  if (backend::wanted_backend() == nullptr && device != nullptr) made->find_other();
  engine::CompilePoolOptions pool;
  pool.workers = made->options_.workers;
  pool.limit = options.compile_limit;
  pool.cancel = options.cancel;
  pool.executable = options.worker;
  made->pool_ = std::make_unique<engine::CompilePool>(pool);
  if (device != nullptr)
    if (Status status = made->begin_trials(std::move(device)); !status) return status.error();
  return made;
}

// Another compiler that is installed and knows the target.
void PlanMeasurer::find_other() {
  const target::Target& target = task_->profile.target;
  if (target.is_cpu()) return;  // which have one
  for (const backend::Backend* backend : backend::backends()) {
    if (backend == compiler_.backend || !backend->available()) continue;
    const Result<std::vector<int>> targets = backend->capabilities();
    if (!targets || std::ranges::count(*targets, target.level) == 0) continue;
    if (Result<std::string> version = backend->version()) other_ = {backend, std::move(version).value()};
    return;
  }
}

std::optional<std::size_t> PlanMeasurer::twin(std::size_t candidate) const {
  if (other_.backend == nullptr || candidate >= candidates_.size()) return std::nullopt;
  return candidate + candidates_.size();
}

Status PlanMeasurer::begin_trials(std::shared_ptr<const runtime::Device> device) {
  const TrialSetup setup{*task_, options_.seed, options_.given};
  if (options_.trial_limit.count() > 0) {
    TrialProcessOptions process;
    process.limit = options_.trial_limit;
    process.cancel = options_.cancel;
    process.executable = options_.worker;
    auto trials = std::make_unique<TrialProcess>(setup, process);
    const Status started = trials->start();
    if (started) {
      trials_ = std::move(trials);
      return success();
    }
    // As for compiling: where no worker process can be had, the work is done here. So it is where the GPU
    // serves one process only; what else kept the worker from it is then found here too.
    if (started.error().kind != ErrorKind::Missing && !trials->refused()) return started.error();
    note_ = fmt::format("trials run in this process, without a time limit: {}", started.error().message);
  }
  Result<std::unique_ptr<Trials>> here = DeviceTrials::make(setup, std::move(device));
  if (!here) return here.error();
  trials_ = std::move(here).value();
  return success();
}

Compiled PlanMeasurer::failed(std::size_t candidate, TrialStatus status, const std::string& reason) {
  Compiled result;
  result.candidate = candidate;
  result.status = status;
  // Compiler logs run to pages; the database keeps one line.
  result.reason = reason.substr(0, std::min<std::size_t>(reason.find('\n'), 300));
  plans_.erase(candidate);
  return result;
}

void PlanMeasurer::compile(std::size_t candidate) {
  const engine::Candidate& of = chosen(candidate);
  const Compiler& compiler = compiler_of(candidate);
  const schedule::Strategy* strategy = schedule::find_strategy(of.strategy);
  if (strategy == nullptr) {
    ready_.push_back(failed(candidate, TrialStatus::CompileError, "unknown strategy " + of.strategy));
    return;
  }
  Result<schedule::KernelPlan> built = strategy->build_legal(*task_, of.parameters);
  if (!built) {
    ready_.push_back(failed(candidate, TrialStatus::CompileError, built.error().message));
    return;
  }
  try {
    Result<engine::CompiledPlan> made =
        engine::uncompiled_plan(task_, std::move(built).value(), *compiler.backend, compiler.version);
    if (!made) {
      ready_.push_back(failed(candidate, TrialStatus::CompileError, made.error().message));
      return;
    }
    // What a program brings itself is not in the build's id, and so is never taken without being built.
    if (schedule::strategy_registry().is_built_in(strategy)) made->executable.identity.asked = asked_;
    plans_[candidate] = std::move(made).value();
  } catch (const std::exception&
               defect) {  // a schedule that contradicts itself must not end the tuning of the others
    ready_.push_back(failed(candidate, TrialStatus::CompileError,
                            fmt::format("defect of the schedule: {}", defect.what())));
    return;
  }
  engine::CompiledPlan& plan = plans_[candidate];
  if (options_.database != nullptr && engine::attach_cached(plan, *options_.database)) {
    ready_.push_back(finished(candidate, plan));
    return;
  }
  pool_->submit({candidate, plan.request});
}

Compiled PlanMeasurer::finished(std::size_t candidate, const engine::CompiledPlan& plan) {
  Compiled result;
  result.candidate = candidate;
  result.registers = plan.registers();
  result.shared_bytes = plan.shared_bytes();
  result.spill_bytes = plan.spill_bytes();
  result.cubin_key = plan.code;
  result.image = plan.digest();
  result.compiler = plan.executable.images.front().compiler;
  // The same code launched in another way takes another time.
  result.code = plan.executable.images.front().hash + executable::launch_hash(plan.executable);
  return result;
}

std::optional<Compiled> PlanMeasurer::next_compiled(double timeout_s) {
  if (!ready_.empty()) {
    Compiled result = std::move(ready_.back());
    ready_.pop_back();
    return result;
  }
  std::optional<engine::CompileOutcome> outcome =
      pool_->next(std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s * 1e3)));
  if (!outcome) return std::nullopt;
  return take(std::move(*outcome));
}

Compiled PlanMeasurer::take(engine::CompileOutcome outcome) {
  const auto candidate = static_cast<std::size_t>(outcome.id);
  engine::CompiledPlan& plan = plans_[candidate];
  // No worker processes on this system: the compiler runs here, one candidate at a time and without a time
  // limit.
  if (outcome.end == engine::CompileEnd::NoWorker) {
    outcome.result = backend::compile(plan.request);
    outcome.end = outcome.result ? engine::CompileEnd::Compiled : engine::CompileEnd::Rejected;
  }
  switch (outcome.end) {
    case engine::CompileEnd::Compiled: break;
    case engine::CompileEnd::TimedOut:
      return failed(candidate, TrialStatus::Timeout, outcome.result.error().message);
    case engine::CompileEnd::Cancelled:
      return failed(candidate, TrialStatus::Cancelled, outcome.result.error().message);
    case engine::CompileEnd::Rejected:
    case engine::CompileEnd::Crashed:
    case engine::CompileEnd::NoWorker:
      return failed(candidate, TrialStatus::CompileError, outcome.result.error().message);
  }
  if (Status status = engine::attach_code(plan, std::move(outcome.result).value()); !status)
    return failed(candidate, TrialStatus::CompileError, status.error().message);
  return finished(candidate, plan);
}

void PlanMeasurer::stop_compiling() {
  pool_.reset();
  ready_.clear();
}

Result<TrialPlan> PlanMeasurer::trial_plan(std::size_t candidate) const {
  const auto found = plans_.find(candidate);
  if (found == plans_.end() || !found->second.has_code() || trials_ == nullptr)
    return Error{ErrorKind::Internal, fmt::format("candidate {} is not compiled", candidate)};
  const engine::Candidate& of = chosen(candidate);
  return TrialPlan{candidate, &found->second.executable, schedule::turn_of(of.strategy, of.parameters)};
}

// On CPUs what compiles takes the cores from what is timed.
void PlanMeasurer::await_compilers() {
  while (task_->profile.is_cpu() && pool_ != nullptr && pool_->pending() > 0)
    if (std::optional<engine::CompileOutcome> outcome = pool_->next(options_.compile_limit))
      ready_.push_back(take(std::move(*outcome)));
}

Result<std::vector<double>> PlanMeasurer::run(std::size_t candidate, int samples, double sample_s) {
  await_compilers();
  const Result<TrialPlan> plan = trial_plan(candidate);
  if (!plan) return plan.error();
  return trials_->run(*plan, samples, sample_s);
}

Result<std::vector<std::vector<double>>> PlanMeasurer::run_interleaved(
    const std::vector<std::size_t>& candidates, int rounds, const std::function<bool()>& stop) {
  await_compilers();
  std::vector<TrialPlan> plans;
  for (const std::size_t candidate : candidates) {
    Result<TrialPlan> plan = trial_plan(candidate);
    if (!plan) return plan.error();
    plans.push_back(std::move(plan).value());
  }
  std::vector<std::vector<double>> samples(candidates.size());
  for (int round = -1; round < rounds; ++round) {  // round -1 warms up
    if (round > 0 && stop()) break;
    const Result<std::vector<double>> seconds = trials_->round(plans);
    if (!seconds) return seconds.error();
    for (std::size_t i = 0; round >= 0 && i < samples.size(); ++i) samples[i].push_back(seconds->at(i));
  }
  return samples;
}

Result<engine::Verdict> PlanMeasurer::verify(std::size_t candidate, std::uint64_t seed) {
  const Result<TrialPlan> plan = trial_plan(candidate);
  if (!plan) return plan.error();
  return trials_->verify(*plan, seed);
}

Result<engine::Verdict> PlanMeasurer::verify_at_shape(std::size_t candidate) {
  const Result<TrialPlan> plan = trial_plan(candidate);
  if (!plan) return plan.error();
  const engine::Candidate& of = chosen(candidate);
  Result<engine::PlainPlans> plain = engine::plain_plans(*task_, of.strategy, of.parameters);
  if (!plain) return plain.error();
  const Result<engine::PlainCode> code = engine::compile_plain(std::move(plain).value(), options_.database);
  if (!code) return code.error();
  return trials_->verify_at_shape(*plan, *code);
}

void PlanMeasurer::drop(std::size_t candidate) {
  if (trials_ != nullptr) trials_->drop(candidate);
  plans_.erase(candidate);
}

const engine::CompiledPlan* PlanMeasurer::plan(std::size_t candidate) const {
  const auto found = plans_.find(candidate);
  return found == plans_.end() ? nullptr : &found->second;
}

}  // namespace rondo::tuner
