#include "tuner/plan_measurer.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "compiler/schedule/strategy.h"
#include "compiler/support/hash.h"

namespace rondo::tuner {

using db::TrialStatus;
using runtime::CompiledPlan;
using runtime::CompileEnd;
using runtime::DevicePlan;

PlanMeasurer::PlanMeasurer(const step::Cell& cell, const schedule::Problem& problem,
                           const std::vector<runtime::Candidate>& candidates,
                           const PlanMeasurerOptions& options)
    : cell_(std::make_shared<const step::Cell>(cell)),
      problem_(problem),
      candidates_(candidates),
      options_(options) {
  options_.workers = std::max(1, options_.workers);
}

Result<std::unique_ptr<PlanMeasurer>> PlanMeasurer::make(const step::Cell& cell,
                                                         const schedule::Problem& problem,
                                                         const target::Profile& profile,
                                                         const std::vector<runtime::Candidate>& candidates,
                                                         const runtime::Context* context,
                                                         const PlanMeasurerOptions& options) {
  std::unique_ptr<PlanMeasurer> made(new PlanMeasurer(cell, problem, candidates, options));
  Result<runtime::Compiler> compiler = runtime::nvrtc_compiler();
  if (!compiler) return compiler.error();
  made->compiler_ = std::move(compiler).value();
  runtime::CompilePoolOptions pool;
  pool.workers = made->options_.workers;
  pool.limit = options.compile_limit;
  pool.cancel = options.cancel;
  made->pool_ = std::make_unique<runtime::CompilePool>(pool);
  if (context == nullptr) return made;

  if (Status status = context->make_current(); !status) return status.error();
  Result<EventTimer> timer = EventTimer::make();
  if (!timer) return timer.error();
  Result<Verifier> verifier = Verifier::make(cell, problem, default_cases(cell, problem), options.seed);
  if (!verifier) return verifier.error();
  Result<RunData> data = RunData::make(cell, problem, profile.limits.l2_bytes, timer->stream(), options.seed);
  if (!data) return data.error();
  made->gpu_ = std::unique_ptr<Gpu>(
      new Gpu{context, std::move(timer).value(), std::move(data).value(), std::move(verifier).value()});
  return made;
}

Compiled PlanMeasurer::failed(std::size_t candidate, TrialStatus status, const std::string& reason) {
  Compiled result;
  result.candidate = candidate;
  result.status = status;
  // Compiler logs run to pages; the database keeps one line.
  result.reason = reason.substr(0, std::min<std::size_t>(reason.find('\n'), 300));
  entries_.erase(candidate);
  return result;
}

void PlanMeasurer::compile(std::size_t candidate) {
  const runtime::Candidate& chosen = candidates_[candidate];
  const schedule::Strategy* strategy = schedule::find_strategy(chosen.strategy);
  if (strategy == nullptr) {
    ready_.push_back(failed(candidate, TrialStatus::CompileError, "unknown strategy " + chosen.strategy));
    return;
  }
  try {
    entries_[candidate].compiled = runtime::uncompiled_plan(
        cell_, problem_, strategy->build(*cell_, problem_, chosen.parameters), compiler_.version);
  } catch (const std::exception&
               defect) {  // a schedule that contradicts itself must not end the tuning of the others
    ready_.push_back(failed(candidate, TrialStatus::CompileError,
                            fmt::format("defect of the schedule: {}", defect.what())));
    return;
  }
  Entry& entry = entries_[candidate];
  if (options_.database != nullptr && runtime::attach_cached(entry.compiled, *options_.database)) {
    ready_.push_back(finished(candidate, entry));
    return;
  }
  pool_->submit(
      {candidate, entry.compiled.source, "rondo_plan.cu", problem_.arch, runtime::plan_compile_flags()});
}

Compiled PlanMeasurer::finished(std::size_t candidate, Entry& entry) {
  const CompiledPlan& plan = entry.compiled;
  Compiled result;
  result.candidate = candidate;
  result.registers = plan.registers();
  result.shared_bytes = plan.shared_bytes();
  result.spill_bytes = plan.spill_bytes();
  result.cubin_key = plan.key.hash();
  result.code = sha256_hex(plan.cubin);
  return result;
}

std::optional<Compiled> PlanMeasurer::next_compiled(double timeout_s) {
  if (!ready_.empty()) {
    Compiled result = std::move(ready_.back());
    ready_.pop_back();
    return result;
  }
  std::optional<runtime::CompileOutcome> outcome =
      pool_->next(std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s * 1e3)));
  if (!outcome) return std::nullopt;
  return take(std::move(*outcome));
}

Compiled PlanMeasurer::take(runtime::CompileOutcome outcome) {
  const auto candidate = static_cast<std::size_t>(outcome.id);
  Entry& entry = entries_[candidate];
  // No worker processes on this system: the compiler runs here, one candidate at a time and without a time
  // limit.
  if (outcome.end == CompileEnd::NoWorker) {
    outcome.result = compiler_.compile(entry.compiled.source, problem_.arch, runtime::plan_compile_flags());
    outcome.end = outcome.result ? CompileEnd::Compiled : CompileEnd::Rejected;
  }
  switch (outcome.end) {
    case CompileEnd::Compiled: break;
    case CompileEnd::TimedOut: return failed(candidate, TrialStatus::Timeout, outcome.result.error().message);
    case CompileEnd::Cancelled:
      return failed(candidate, TrialStatus::Cancelled, outcome.result.error().message);
    case CompileEnd::Rejected:
    case CompileEnd::Crashed:
    case CompileEnd::NoWorker:
      return failed(candidate, TrialStatus::CompileError, outcome.result.error().message);
  }
  if (Status status = runtime::attach_code(entry.compiled, std::move(outcome.result).value()); !status)
    return failed(candidate, TrialStatus::CompileError, status.error().message);
  return finished(candidate, entry);
}

void PlanMeasurer::stop_compiling() {
  pool_.reset();
  ready_.clear();
}

Error PlanMeasurer::broken(Error error) {
  alive_ = gpu_ != nullptr && gpu_->context->synchronize().ok();
  return error;
}

Result<const DevicePlan*> PlanMeasurer::loaded(std::size_t candidate) {
  const auto found = entries_.find(candidate);
  if (found == entries_.end() || found->second.compiled.cubin.empty() || gpu_ == nullptr)
    return Error{ErrorKind::Internal, fmt::format("candidate {} is not compiled", candidate), ""};
  Entry& entry = found->second;
  if (!entry.loaded) {
    Result<DevicePlan> plan = DevicePlan::load(entry.compiled, *gpu_->context);
    if (!plan) return broken(plan.error());
    entry.loaded.emplace(std::move(plan).value());
  }
  if (Status status = gpu_->data.reserve(*entry.loaded); !status) return broken(status.error());
  return &*entry.loaded;
}

Result<std::vector<double>> PlanMeasurer::run(std::size_t candidate, int samples, double sample_s) {
  const Result<const DevicePlan*> plan = loaded(candidate);
  if (!plan) return plan.error();
  TimingPlan timing;
  timing.samples = samples;
  timing.sample_s = sample_s;
  timing.sets = gpu_->data.sets();
  double& expected = entries_.at(candidate).expected_s;
  const auto seconds = gpu_->timer.time(gpu_->data.work(**plan), timing, expected);
  if (!seconds) return broken(seconds.error());
  expected = median(*seconds);
  return *seconds;
}

Result<std::vector<std::vector<double>>> PlanMeasurer::run_interleaved(
    const std::vector<std::size_t>& candidates, int rounds, const std::function<bool()>& stop) {
  std::vector<TimedWork> works;
  std::vector<double> expected;
  for (const std::size_t candidate :
       candidates) {  // all first: the workspace may grow, and works keep its address
    const Result<const DevicePlan*> plan = loaded(candidate);
    if (!plan) return plan.error();
  }
  for (const std::size_t candidate : candidates) {
    works.push_back(gpu_->data.work(*entries_.at(candidate).loaded));
    expected.push_back(entries_.at(candidate).expected_s);
  }
  TimingPlan timing;
  timing.samples = rounds;
  timing.sample_s = 1e-3;
  timing.sets = gpu_->data.sets();
  auto samples = time_interleaved(gpu_->timer, works, timing, expected, stop);
  if (!samples) return broken(samples.error());
  return samples;
}

Status PlanMeasurer::verify(std::size_t candidate) {
  const Result<const DevicePlan*> plan = loaded(candidate);
  if (!plan) return plan.error();
  const Result<Verification> verification = gpu_->verifier.check(**plan, gpu_->timer.stream());
  if (!verification) return broken(verification.error());
  if (verification->passed) return success();
  return Error{ErrorKind::Wrong, verification->summary(), ""};
}

void PlanMeasurer::drop(std::size_t candidate) { entries_.erase(candidate); }

const CompiledPlan* PlanMeasurer::plan(std::size_t candidate) const {
  const auto found = entries_.find(candidate);
  return found == entries_.end() ? nullptr : &found->second.compiled;
}

}  // namespace rondo::tuner
