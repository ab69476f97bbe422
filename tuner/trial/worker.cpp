#include "tuner/trial/worker.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include "compiler/executable/serialise.h"

#include "runtime/worker/worker_end.h"
#include "tuner/trial/gpu_trials.h"
#include "tuner/trial/message.h"
#include "tuner/trial/process.h"

namespace rondo::tuner {

using nlohmann::json;

Result<std::unique_ptr<Trials>> trials_on_gpu(const TrialSetup& setup) {
  return GpuTrials::make_alone(setup);
}

namespace {

json values_reply(const Result<std::vector<double>>& values) {
  return values ? json{{"values", *values}} : json{{"error", error_to_message(values.error())}};
}

json status_reply(const Status& status) {
  return status ? json{{"values", json::array()}} : json{{"error", error_to_message(status.error())}};
}

class TrialService {
 public:
  explicit TrialService(TrialMaker make) : make_(make) {}

  std::string answer(std::string_view bytes) {
    const json request = json::from_cbor(bytes.begin(), bytes.end());
    json reply = request.at("what") == "setup" ? set_up(request.at("setup")) : trial(request);
    reply["alive"] = trials_ != nullptr && trials_->alive();
    const std::vector<std::uint8_t> encoded = json::to_cbor(reply);
    return {encoded.begin(), encoded.end()};
  }

 private:
  json set_up(const json& message) {
    Result<std::unique_ptr<Trials>> made = make_(setup_from_message(message));
    if (!made) return {{"error", error_to_message(made.error())}};
    trials_ = std::move(made).value();
    return status_reply(success());
  }

  json trial(const json& request) {
    const std::string what = request.at("what");
    if (trials_ == nullptr)
      return {{"error", error_to_message({ErrorKind::Internal, "a trial before the set-up: " + what, ""})}};
    if (what == "copy") {
      const Result<double> copy = trials_->copy_bandwidth();
      return copy ? json{{"values", {*copy}}} : json{{"error", error_to_message(copy.error())}};
    }
    if (what == "drop") return drop(request.at("candidate").get<std::size_t>());
    std::vector<TrialPlan> plans;
    for (const json& plan : request.at("plans")) plans.push_back(plan_of(plan));
    if (what == "run")
      return values_reply(
          trials_->run(plans.at(0), request.at("samples").get<int>(), request.at("sample_s").get<double>()));
    if (what == "round") return values_reply(trials_->round(plans));
    if (what == "verify") return status_reply(trials_->verify(plans.at(0)));
    return {{"error", error_to_message({ErrorKind::Internal, "an unknown kind of trial: " + what, ""})}};
  }

  json drop(std::size_t candidate) {
    trials_->drop(candidate);
    executables_.erase(candidate);
    return status_reply(success());
  }

  TrialPlan plan_of(const json& message) {
    TrialPlan plan;
    plan.candidate = message.at("candidate").get<std::size_t>();
    if (message.contains("executable")) {
      const json::binary_t& bytes = message.at("executable").get_binary();
      const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      executables_[plan.candidate] = executable::from_bytes(view, "the tuner's message").value();
    }
    plan.executable = &executables_.at(plan.candidate);
    return plan;
  }

  TrialMaker make_;
  std::unique_ptr<Trials> trials_;
  std::map<std::size_t, executable::Executable> executables_;
};

}  // namespace

std::optional<int> maybe_run_trial_worker(int argc, char** argv, TrialMaker make) {
  if (argc < 2 || kTrialWorkerArgument != argv[1]) return std::nullopt;
  TrialService service(make);
  return runtime::serve_calls(kTrialWorkerGreeting,
                              [&](std::string_view message) { return service.answer(message); });
}

}  // namespace rondo::tuner
