#include "tuner/trial/process.h"

#include "compiler/executable/serialise.h"

#include <fmt/format.h>

namespace rondo::tuner {

using What = TrialRequest::What;

void TrialProcess::forget() {
  worker_.reset();
  known_.clear();
}

// What became of a worker that gave no answer.
Error TrialProcess::lost(const engine::CallOutcome& outcome, std::chrono::milliseconds limit) {
  const std::string executable = worker_ ? worker_->executable() : "";
  forget();
  switch (outcome.end) {
    case engine::CallEnd::TimedOut:
      return {
          ErrorKind::Cancelled,
          fmt::format("timeout: the trial did not end within {} ms; its process was killed", limit.count()),
          "give trials more time with --trial-limit"};
    case engine::CallEnd::Cancelled: return {ErrorKind::Cancelled, "the trial was cancelled"};
    case engine::CallEnd::Crashed:
      return {ErrorKind::Device, fmt::format("the trial's process ended with {}", outcome.text)};
    case engine::CallEnd::NoWorker:
    case engine::CallEnd::Answered: break;
  }
  return {ErrorKind::Missing,
          fmt::format("{} does not serve as a trial worker: {}", executable, outcome.text),
          "point RONDO_WORKER at the rondo program"};
}

Result<TrialAnswer> TrialProcess::ask(const TrialRequest& request, std::chrono::milliseconds limit) {
  const engine::CallOutcome outcome = worker_->call(encode_request(request), limit, options_.cancel);
  if (outcome.end != engine::CallEnd::Answered) return lost(outcome, limit);
  std::optional<TrialReply> reply = decode_reply(outcome.text);
  if (!reply) {
    forget();
    return Error{ErrorKind::Internal, "the trial worker's answer cannot be read"};
  }
  // Its context is of no more use. A set-up that failed has none, and is start()'s to judge.
  if (!reply->alive && request.what != What::SetUp) forget();
  return std::move(reply->answer);
}

Status TrialProcess::start() {
  if (worker_) return success();
  Result<engine::WorkerConnection> worker =
      engine::WorkerConnection::start(options_.executable, kTrialWorker);
  if (!worker) return worker.error();
  worker_ = std::move(worker).value();
  ++started_;
  TrialRequest set_up;
  set_up.what = What::SetUp;
  set_up.setup = setup_;
  const auto ready = ask(set_up, options_.setup_limit);
  refused_ = !ready && worker_;  // what gave no answer is gone already
  if (!ready) {
    forget();
    return ready.error();
  }
  return success();
}

Result<TrialAnswer> TrialProcess::trial(TrialRequest request, const std::vector<TrialPlan>& plans) {
  if (Status status = start(); !status) {
    // A set-up that worked before and does not now: the device is gone, or nearly so.
    alive_ = options_.cancel != nullptr && options_.cancel->load();
    return status.error();
  }
  for (const TrialPlan& plan : plans) {
    const bool is_new = known_.insert(plan.candidate).second;
    request.plans.push_back({plan.candidate, plan.turn,
                             is_new ? std::optional(executable::to_bytes(*plan.executable)) : std::nullopt});
  }
  const bool compares = request.what == What::Verify || request.what == What::AtShape;
  return ask(request, compares ? std::max(options_.limit, options_.setup_limit) : options_.limit);
}

Result<std::vector<double>> TrialProcess::times(TrialRequest request, const std::vector<TrialPlan>& plans) {
  Result<TrialAnswer> answer = trial(std::move(request), plans);
  if (!answer) return answer.error();
  return std::move(answer->values);
}

Result<double> TrialProcess::copy_bandwidth() {
  const auto values = times({What::Copy}, {});
  if (!values) return values.error();
  return values->at(0);
}

Result<std::vector<double>> TrialProcess::run(const TrialPlan& plan, int samples, double sample_s) {
  TrialRequest request{What::Run};
  request.samples = samples;
  request.sample_s = sample_s;
  return times(std::move(request), {plan});
}

Result<std::vector<double>> TrialProcess::round(const std::vector<TrialPlan>& plans) {
  return times({What::Round}, plans);
}

Result<engine::Verdict> TrialProcess::verify(const TrialPlan& plan, std::uint64_t seed) {
  TrialRequest request{What::Verify};
  request.seed = seed;
  Result<TrialAnswer> answer = trial(std::move(request), {plan});
  if (!answer) return answer.error();
  return std::move(answer->verdict);
}

Result<engine::Verdict> TrialProcess::verify_at_shape(const TrialPlan& plan, const engine::PlainCode& plain) {
  TrialRequest request{What::AtShape};
  request.plain.push_back(executable::to_bytes(plain.same));
  request.plain.push_back(executable::to_bytes(plain.perturbed));
  request.plain.push_back(plain.forward ? executable::to_bytes(*plain.forward) : "");
  Result<TrialAnswer> answer = trial(std::move(request), {plan});
  if (!answer) return answer.error();
  return std::move(answer->verdict);
}

void TrialProcess::drop(std::size_t candidate) {
  if (!worker_ || known_.erase(candidate) == 0) return;
  TrialRequest request{What::Drop};
  request.candidate = candidate;
  // An error has taken the worker with it, and with that what was to be dropped.
  (void)ask(request, options_.limit);
}

}  // namespace rondo::tuner
