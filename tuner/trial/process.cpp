#include "tuner/trial/process.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tuner/trial/message.h"

namespace rondo::tuner {

using nlohmann::json;
using runtime::CallEnd;
using runtime::CallOutcome;

void TrialProcess::forget() {
  worker_.reset();
  known_.clear();
}

// What became of a worker that gave no answer.
Error TrialProcess::lost(const CallOutcome& outcome, std::chrono::milliseconds limit) {
  const std::string executable = worker_ ? worker_->executable() : "";
  forget();
  switch (outcome.end) {
    case CallEnd::TimedOut:
      return {
          ErrorKind::Cancelled,
          fmt::format("timeout: the trial did not end within {} ms; its process was killed", limit.count()),
          "give trials more time with --trial-limit"};
    case CallEnd::Cancelled: return {ErrorKind::Cancelled, "the trial was cancelled", ""};
    case CallEnd::Crashed:
      return {ErrorKind::Device, fmt::format("the trial's process ended with {}", outcome.text), ""};
    case CallEnd::NoWorker:
    case CallEnd::Answered: break;
  }
  return {ErrorKind::Missing,
          fmt::format("{} does not serve as a trial worker: {}", executable, outcome.text),
          "point RONDO_WORKER at the rondo program"};
}

Result<std::vector<double>> TrialProcess::ask(const json& request, std::chrono::milliseconds limit) {
  const std::vector<std::uint8_t> bytes = json::to_cbor(request);
  const CallOutcome outcome =
      worker_->call({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, limit, options_.cancel);
  if (outcome.end != CallEnd::Answered) return lost(outcome, limit);
  const json reply = json::from_cbor(outcome.text, true, false);
  if (!reply.is_object() || !reply.contains("alive")) {
    forget();
    return Error{ErrorKind::Internal, "the trial worker's answer cannot be read", ""};
  }
  // Its context is of no more use. A set-up that failed has none, and is start()'s to judge.
  if (!reply.at("alive").get<bool>() && request.at("what") != "setup") forget();
  if (reply.contains("error")) return error_from_message(reply.at("error"));
  return reply.at("values").get<std::vector<double>>();
}

Status TrialProcess::start() {
  if (worker_) return success();
  Result<runtime::WorkerProcess> process =
      runtime::WorkerProcess::start(options_.executable, kTrialWorkerArgument);
  if (!process) return process.error();
  worker_.emplace(std::move(process).value(), std::string(kTrialWorkerGreeting));
  ++started_;
  const auto ready = ask({{"what", "setup"}, {"setup", setup_to_message(setup_)}}, options_.setup_limit);
  refused_ = !ready && worker_;  // what gave no answer is gone already
  if (!ready) {
    forget();
    return ready.error();
  }
  return success();
}

Result<std::vector<double>> TrialProcess::trial(json request, const std::vector<TrialPlan>& plans) {
  if (Status status = start(); !status) {
    // A set-up that worked before and does not now: the device is gone, or nearly so.
    alive_ = options_.cancel != nullptr && options_.cancel->load();
    return status.error();
  }
  json list = json::array();
  for (const TrialPlan& plan : plans)
    list.push_back(plan_to_message(plan, known_.insert(plan.candidate).second));
  request["plans"] = std::move(list);
  return ask(request, options_.limit);
}

Result<double> TrialProcess::copy_bandwidth() {
  const auto values = trial({{"what", "copy"}}, {});
  if (!values) return values.error();
  return values->at(0);
}

Result<std::vector<double>> TrialProcess::run(const TrialPlan& plan, int samples, double sample_s) {
  return trial({{"what", "run"}, {"samples", samples}, {"sample_s", sample_s}}, {plan});
}

Result<std::vector<double>> TrialProcess::round(const std::vector<TrialPlan>& plans) {
  return trial({{"what", "round"}}, plans);
}

Status TrialProcess::verify(const TrialPlan& plan) {
  const auto done = trial({{"what", "verify"}}, {plan});
  return done ? success() : Status(done.error());
}

void TrialProcess::drop(std::size_t candidate) {
  if (!worker_ || known_.erase(candidate) == 0) return;
  // An error has taken the worker with it, and with that what was to be dropped.
  (void)ask({{"what", "drop"}, {"candidate", candidate}}, options_.limit);
}

}  // namespace rondo::tuner
