#include "tuner/trial/worker.h"

#include <map>
#include <string>

#include "compiler/executable/serialise.h"
#include "runtime/worker/serve.h"
#include "tuner/trial/gpu_trials.h"
#include "tuner/trial/message.h"
#include "tuner/trial/process.h"

namespace rondo::tuner {

Result<std::unique_ptr<Trials>> trials_on_gpu(const TrialSetup& setup) {
  return GpuTrials::make_alone(setup);
}

namespace {

using Values = Result<std::vector<double>>;

Values no_values(const Status& status) { return status ? Values(std::vector<double>()) : status.error(); }

class TrialService {
 public:
  explicit TrialService(TrialMaker make) : make_(make) {}

  std::optional<std::string> answer(std::string_view bytes) {
    std::optional<TrialRequest> request = decode_request(bytes);
    if (!request) return std::nullopt;
    Values values = request->setup ? set_up(*request->setup) : trial(std::move(*request));
    return encode_reply({trials_ != nullptr && trials_->alive(), std::move(values)});
  }

 private:
  Values set_up(const TrialSetup& setup) {
    Result<std::unique_ptr<Trials>> made = make_(setup);
    if (!made) return made.error();
    trials_ = std::move(made).value();
    return no_values(success());
  }

  Values trial(TrialRequest request) {
    using What = TrialRequest::What;
    if (trials_ == nullptr) return Error{ErrorKind::Internal, "a trial before the set-up", ""};
    std::vector<TrialPlan> plans;
    for (TrialRequest::Plan& plan : request.plans) {
      if (plan.executable) {
        auto read = executable::from_bytes(*plan.executable, "the tuner's message");
        if (!read) return read.error();
        executables_[plan.candidate] = std::move(read).value();
      }
      const auto known = executables_.find(plan.candidate);
      if (known == executables_.end())
        return Error{ErrorKind::Internal, "a trial of a candidate without its code", ""};
      plans.push_back({plan.candidate, &known->second, plan.turn});
    }
    switch (request.what) {
      case What::Copy: return copy();
      case What::Run: return trials_->run(plans.front(), request.samples, request.sample_s);
      case What::Round: return trials_->round(plans);
      case What::Verify: return no_values(trials_->verify(plans.front()));
      case What::Drop: return drop(request.candidate);
      case What::SetUp: break;
    }
    return Error{ErrorKind::Internal, "a set-up without what it is for", ""};
  }

  Values copy() {
    const Result<double> speed = trials_->copy_bandwidth();
    return speed ? Values(std::vector<double>{*speed}) : speed.error();
  }

  Values drop(std::size_t candidate) {
    trials_->drop(candidate);
    executables_.erase(candidate);
    return no_values(success());
  }

  TrialMaker make_;
  std::unique_ptr<Trials> trials_;
  std::map<std::size_t, executable::Executable> executables_;
};

}  // namespace

std::optional<int> maybe_run_trial_worker(int argc, char** argv, TrialMaker make) {
  TrialService service(make);
  return runtime::maybe_serve(argc, argv, kTrialWorker,
                              [&](std::string_view message) { return service.answer(message); });
}

}  // namespace rondo::tuner
