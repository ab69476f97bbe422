#include "tuner/trial/worker.h"

#include <map>
#include <string>

#include "compiler/executable/serialise.h"
#include "engine/worker/serve.h"
#include "runtime/device/cpu_device.h"
#include "runtime/device/gpu_device.h"
#include "tuner/trial/device_trials.h"
#include "tuner/trial/message.h"
#include "tuner/trial/process.h"

namespace rondo::tuner {

Result<std::unique_ptr<Trials>> trials_here(const TrialSetup& setup) {
  if (setup.task.profile.is_cpu())
    return DeviceTrials::make(setup, runtime::cpu_device(setup.task.profile.cpu.threads));
  Result<runtime::Context> context = runtime::Context::open(0);
  if (!context) return context.error();
  Result<std::shared_ptr<const runtime::Device>> device = runtime::gpu_device(std::move(context).value());
  if (!device) return device.error();
  return DeviceTrials::make(setup, std::move(device).value());
}

namespace {

using Answer = Result<TrialAnswer>;

Answer values(Result<std::vector<double>> measured) {
  if (!measured) return measured.error();
  return TrialAnswer{std::move(measured).value()};
}

class TrialService {
 public:
  explicit TrialService(TrialMaker make) : make_(make) {}

  std::optional<std::string> answer(std::string_view bytes) {
    std::optional<TrialRequest> request = decode_request(bytes);
    if (!request) return std::nullopt;
    Answer answer = request->setup ? set_up(*request->setup) : trial(std::move(*request));
    return encode_reply({trials_ != nullptr && trials_->alive(), std::move(answer)});
  }

 private:
  Answer set_up(const TrialSetup& setup) {
    Result<std::unique_ptr<Trials>> made = make_(setup);
    if (!made) return made.error();
    trials_ = std::move(made).value();
    return TrialAnswer{};
  }

  Answer trial(TrialRequest request) {
    using What = TrialRequest::What;
    if (trials_ == nullptr) return Error{ErrorKind::Internal, "a trial before the set-up"};
    std::vector<TrialPlan> plans;
    for (TrialRequest::Plan& plan : request.plans) {
      if (plan.executable) {
        auto read = executable::from_bytes(*plan.executable, "the tuner's message");
        if (!read) return read.error();
        executables_[plan.candidate] = std::move(read).value();
      }
      const auto known = executables_.find(plan.candidate);
      if (known == executables_.end())
        return Error{ErrorKind::Internal, "a trial of a candidate without its code"};
      plans.push_back({plan.candidate, &known->second, plan.turn});
    }
    switch (request.what) {
      case What::Copy: return copy();
      case What::Run: return values(trials_->run(plans.front(), request.samples, request.sample_s));
      case What::Round: return values(trials_->round(plans));
      case What::Verify: return verify(plans.front(), request.seed);
      case What::AtShape: return at_shape(plans.front(), request.plain);
      case What::Drop: return drop(request.candidate);
      case What::SetUp: break;
    }
    return Error{ErrorKind::Internal, "a set-up without what it is for"};
  }

  Answer copy() {
    const Result<double> speed = trials_->copy_bandwidth();
    return speed ? Answer(TrialAnswer{{*speed}}) : speed.error();
  }

  Answer verify(const TrialPlan& plan, std::uint64_t seed) {
    Result<engine::Verdict> verdict = trials_->verify(plan, seed);
    if (!verdict) return verdict.error();
    return TrialAnswer{{}, std::move(verdict).value()};
  }

  Answer at_shape(const TrialPlan& plan, const std::vector<std::string>& plain) {
    std::vector<std::optional<executable::Executable>> read(plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      if (plain[i].empty()) continue;
      auto one = executable::from_bytes(plain[i], "the tuner's message");
      if (!one) return one.error();
      read[i] = std::move(one).value();
    }
    if (!read[0] || !read[1]) return Error{ErrorKind::Internal, "a comparison with no plain kernel"};
    Result<engine::Verdict> verdict =
        trials_->verify_at_shape(plan, {std::move(*read[0]), std::move(*read[1]), read[2]});
    if (!verdict) return verdict.error();
    return TrialAnswer{{}, std::move(verdict).value()};
  }

  Answer drop(std::size_t candidate) {
    trials_->drop(candidate);
    executables_.erase(candidate);
    return TrialAnswer{};
  }

  TrialMaker make_;
  std::unique_ptr<Trials> trials_;
  std::map<std::size_t, executable::Executable> executables_;
};

}  // namespace

std::optional<int> maybe_run_trial_worker(int argc, char** argv, TrialMaker make) {
  TrialService service(make);
  return engine::maybe_serve(argc, argv, kTrialWorker,
                             [&](std::string_view message) { return service.answer(message); });
}

}  // namespace rondo::tuner
