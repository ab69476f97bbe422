#include "tuner/trial/device_trials.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace rondo::tuner {

namespace {

constexpr double kRoundSample = 1e-3;  // seconds of a sample of round()
constexpr double kMostRepetitions = 200;

}  // namespace

engine::Verdict verdict_of(const engine::Verification& verification) {
  engine::Verdict verdict;
  verdict.passed = verification.passed;
  verdict.summary = verification.summary();
  if (verdict.passed) return verdict;
  for (const engine::TensorCheck& check : verification.checks) {
    if (check.passed) continue;
    const bool beyond_measure = check.unwritten > 0 || check.not_finite > 0 || check.gap_writes > 0;
    const double excess = beyond_measure ? std::numeric_limits<double>::infinity() : check.ratio;
    if (!verdict.tensor.empty() && excess <= verdict.excess) continue;
    verdict.tensor = check.name;
    verdict.excess = excess;
  }
  return verdict;
}

Result<std::unique_ptr<Trials>> DeviceTrials::make(const TrialSetup& setup,
                                                   std::shared_ptr<const runtime::Device> device) {
  if (Status status = device->make_current(); !status) return status.error();
  Result<engine::Verifier> verifier = make_verifier(setup, setup.seed);
  if (!verifier) return verifier.error();
  Result<engine::RunData> data =
      engine::RunData::make(setup.task, engine::cache_to_leave(setup.task.profile), *device, setup.seed,
                            engine::RunData::kWeights, setup.given);
  if (!data) return data.error();
  return std::unique_ptr<Trials>(
      new DeviceTrials(setup, std::move(device), std::move(data).value(), std::move(verifier).value()));
}

Result<engine::Verifier> DeviceTrials::make_verifier(const TrialSetup& setup, std::uint64_t seed) {
  // One step, which tells whether the cell can be run at all. verify() adds the cases of a plan: the
  // reference takes seconds for them, in which a short search would time nothing.
  return engine::Verifier::make(setup.task, {engine::cases_for(setup.task, {}, engine::gpu_budget()).back()},
                                seed, setup.given);
}

Error DeviceTrials::broken(Error error) {
  alive_ = device_->usable();
  return error;
}

Result<DeviceTrials::Loaded*> DeviceTrials::loaded(const TrialPlan& trial) {
  auto found = loaded_.find(trial.candidate);
  if (found == loaded_.end()) {
    Result<std::unique_ptr<runtime::LoadedPlan>> plan = device_->load(*trial.executable);
    if (!plan) return broken(plan.error());
    found = loaded_.emplace(trial.candidate, Loaded{std::move(plan).value(), 0}).first;
  }
  if (Status status = data_.reserve(*found->second.plan); !status) return broken(status.error());
  return &found->second;
}

Result<std::vector<double>> DeviceTrials::run(const TrialPlan& plan, int samples, double sample_s) {
  const Result<Loaded*> entry = loaded(plan);
  if (!entry) return entry.error();
  engine::TimingPlan timing;
  timing.samples = samples;
  timing.sample_s = sample_s;
  timing.sets = data_.sets();
  timer_.begin_with(0);
  const auto seconds = timer_.time(data_.work(*(*entry)->plan), timing, (*entry)->expected_s);
  if (!seconds) return broken(seconds.error());
  if (Status status = (*entry)->plan->check(); !status) return broken(status.error());
  (*entry)->expected_s = engine::median(*seconds);
  return *seconds;
}

Result<std::vector<double>> DeviceTrials::round(const std::vector<TrialPlan>& plans) {
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
    timer_.begin_with(rounds_);
    const Result<double> seconds = timer_.sample(data_.work(*entry->plan), repetitions, data_.sets());
    if (!seconds) return broken(seconds.error());
    if (Status status = entry->plan->check(); !status) return broken(status.error());
    samples.push_back(*seconds);
  }
  ++rounds_;
  return samples;
}

Result<engine::Verdict> DeviceTrials::verify(const TrialPlan& plan, std::uint64_t seed) {
  const Result<Loaded*> entry = loaded(plan);
  if (!entry) return entry.error();
  std::optional<engine::Verifier> other;
  if (seed != 0 && seed != setup_.seed) {
    Result<engine::Verifier> made = make_verifier(setup_, seed);
    if (!made) return made.error();
    other = std::move(made).value();
  }
  const Result<engine::Verification> verification =
      (other ? *other : verifier_)
          .check(*device_, *(*entry)->plan,
                 engine::cases_for(setup_.task, engine::coverage_of(*plan.executable, plan.turn),
                                   engine::gpu_budget()));
  if (!verification) return broken(verification.error());
  if (verification->said() == engine::Said::CannotTell)
    return Error{ErrorKind::Input, verification->summary(), engine::kOtherData};
  return verdict_of(*verification);
}

Result<engine::Verdict> DeviceTrials::verify_at_shape(const TrialPlan& plan, const engine::PlainCode& plain) {
  const Result<Loaded*> entry = loaded(plan);
  if (!entry) return entry.error();
  const Result<engine::Verification> verification =
      engine::verify_at_shape(setup_.task, *device_, *(*entry)->plan, plain, setup_.seed, setup_.given);
  if (!verification) return broken(verification.error());
  if (verification->said() == engine::Said::CannotTell)
    return Error{ErrorKind::Unsupported, verification->summary()};
  engine::Verdict verdict = verdict_of(*verification);
  if (verdict.passed) verdict.summary = verification->covered.front();
  return verdict;
}

}  // namespace rondo::tuner
