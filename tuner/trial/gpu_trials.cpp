#include "tuner/trial/gpu_trials.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace rondo::tuner {

namespace {

constexpr double kRoundSample = 1e-3;  // seconds of a sample of round()
constexpr double kMostRepetitions = 200;

}  // namespace

Verdict verdict_of(const Verification& verification) {
  Verdict verdict;
  verdict.passed = verification.passed;
  verdict.summary = verification.summary();
  if (verdict.passed) return verdict;
  for (const TensorCheck& check : verification.checks) {
    if (check.passed) continue;
    const bool beyond_measure = check.unwritten > 0 || check.not_finite > 0 || check.gap_writes > 0;
    const double excess = beyond_measure ? std::numeric_limits<double>::infinity() : check.ratio;
    if (!verdict.tensor.empty() && excess <= verdict.excess) continue;
    verdict.tensor = check.name;
    verdict.excess = excess;
  }
  return verdict;
}

Result<std::unique_ptr<Trials>> GpuTrials::make(const TrialSetup& setup, const runtime::Context& context) {
  return make_in(setup, Context(Context(), &context));  // borrowed
}

Result<std::unique_ptr<Trials>> GpuTrials::make_alone(const TrialSetup& setup) {
  Result<runtime::Context> context = runtime::Context::open(0);
  if (!context) return context.error();
  return make_in(setup, std::make_shared<const runtime::Context>(std::move(context).value()));
}

Result<std::unique_ptr<Trials>> GpuTrials::make_in(const TrialSetup& setup, Context context) {
  if (Status status = context->make_current(); !status) return status.error();
  Result<EventTimer> timer = EventTimer::make();
  if (!timer) return timer.error();
  Result<Verifier> verifier = make_verifier(setup, setup.seed);
  if (!verifier) return verifier.error();
  Result<RunData> data =
      RunData::make(setup.cell, setup.problem, setup.profile.limits.l2_bytes, timer->stream(), setup.seed);
  if (!data) return data.error();
  return std::unique_ptr<Trials>(new GpuTrials(setup, std::move(context), std::move(timer).value(),
                                               std::move(data).value(), std::move(verifier).value()));
}

Result<Verifier> GpuTrials::make_verifier(const TrialSetup& setup, std::uint64_t seed) {
  // One step, which tells whether the cell can be run at all. verify() adds the cases of a plan: the
  // reference takes seconds for them, in which a short search would time nothing.
  return Verifier::make(setup.cell, setup.problem,
                        {cases_for(setup.cell, setup.problem, {}, gpu_budget()).back()}, seed);
}

Error GpuTrials::broken(Error error) {
  alive_ = context_->synchronize().ok();
  return error;
}

Result<GpuTrials::Loaded*> GpuTrials::loaded(const TrialPlan& trial) {
  auto found = loaded_.find(trial.candidate);
  if (found == loaded_.end()) {
    Result<runtime::DevicePlan> plan = runtime::DevicePlan::load(*trial.executable, *context_);
    if (!plan) return broken(plan.error());
    found = loaded_.emplace(trial.candidate, Loaded{std::move(plan).value(), 0}).first;
  }
  if (Status status = data_.reserve(found->second.plan); !status) return broken(status.error());
  return &found->second;
}

Result<std::vector<double>> GpuTrials::run(const TrialPlan& plan, int samples, double sample_s) {
  const Result<Loaded*> entry = loaded(plan);
  if (!entry) return entry.error();
  TimingPlan timing;
  timing.samples = samples;
  timing.sample_s = sample_s;
  timing.sets = data_.sets();
  const auto seconds = timer_.time(data_.work((*entry)->plan), timing, (*entry)->expected_s);
  if (!seconds) return broken(seconds.error());
  if (Status status = (*entry)->plan.check(); !status) return broken(status.error());
  (*entry)->expected_s = median(*seconds);
  return *seconds;
}

Result<std::vector<double>> GpuTrials::round(const std::vector<TrialPlan>& plans) {
  std::vector<Loaded*> entries;
  for (const TrialPlan& plan : plans) {  // all first: the workspace may grow, and works keep its address
    const Result<Loaded*> entry = loaded(plan);
    if (!entry) return entry.error();
    entries.push_back(*entry);
  }
  std::vector<double> samples;
  for (const Loaded* entry : entries) {
    const double wanted = std::ceil(kRoundSample / std::max(entry->expected_s, 1e-7));
    const int repetitions = static_cast<int>(std::clamp(wanted, 1.0, kMostRepetitions));
    const Result<double> seconds = timer_.sample(data_.work(entry->plan), repetitions, data_.sets());
    if (!seconds) return broken(seconds.error());
    if (Status status = entry->plan.check(); !status) return broken(status.error());
    samples.push_back(*seconds);
  }
  return samples;
}

Result<Verdict> GpuTrials::verify(const TrialPlan& plan, std::uint64_t seed) {
  const Result<Loaded*> entry = loaded(plan);
  if (!entry) return entry.error();
  std::optional<Verifier> other;
  if (seed != 0 && seed != setup_.seed) {
    Result<Verifier> made = make_verifier(setup_, seed);
    if (!made) return made.error();
    other = std::move(made).value();
  }
  const Result<Verification> verification =
      (other ? *other : verifier_)
          .check(
              (*entry)->plan, timer_.stream(),
              cases_for(setup_.cell, setup_.problem, coverage_of(*plan.executable, plan.turn), gpu_budget()));
  if (!verification) return broken(verification.error());
  return verdict_of(*verification);
}

Result<Verdict> GpuTrials::verify_at_shape(const TrialPlan& plan, const PlainCode& plain) {
  const Result<Loaded*> entry = loaded(plan);
  if (!entry) return entry.error();
  const Result<Verification> verification = tuner::verify_at_shape(
      setup_.cell, setup_.problem, (*entry)->plan, plain, *context_, timer_.stream(), setup_.seed);
  if (!verification) return broken(verification.error());
  Verdict verdict = verdict_of(*verification);
  if (verdict.passed) verdict.summary = verification->covered.front();
  return verdict;
}

}  // namespace rondo::tuner
