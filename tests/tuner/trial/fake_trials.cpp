#include "tests/tuner/trial/fake_trials.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <set>
#include <thread>

namespace rondo::tuner::testing {
namespace {

const std::string& code_of(const TrialPlan& plan) { return plan.executable->images.at(0).bytes; }

class FakeTrials final : public Trials {
 public:
  Result<double> copy_bandwidth() override { return 4e12; }
  Result<std::vector<double>> run(const TrialPlan& plan, int samples, double) override {
    loaded_.insert(plan.candidate);
    if (code_of(plan) == "hang")
      while (true) ::pause();
    if (code_of(plan) == "segfault") {
      std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would end it in another way
      std::raise(SIGSEGV);
    }
    if (code_of(plan) == "exit") std::_Exit(7);
    if (code_of(plan) == "lost") alive_ = false;
    if (code_of(plan) == "error" || code_of(plan) == "lost")
      return Error{ErrorKind::Device, "an illegal memory access was encountered", "as planted"};
    const double value =
        code_of(plan) == "known" ? static_cast<double>(loaded_.size()) : static_cast<double>(::getpid());
    return std::vector<double>(static_cast<std::size_t>(samples), value);
  }
  Result<std::vector<double>> round(const std::vector<TrialPlan>& plans) override {
    std::vector<double> result;
    for (const TrialPlan& plan : plans) {
      const auto seconds = run(plan, 1, 0);
      if (!seconds) return seconds.error();
      result.push_back(seconds->at(0));
    }
    return result;
  }
  Result<engine::Verdict> verify(const TrialPlan& plan, std::uint64_t seed) override {
    if (code_of(plan) == "wrong" && seed != kRightSeed)
      return engine::Verdict{false, "h_out", 77.5, "h_out: error 3.1e-01 (limit 4.0e-03)"};
    if (code_of(plan) == "slow reference") std::this_thread::sleep_for(kSlowReference);
    const auto seconds = run(plan, 1, 0);
    if (!seconds) return seconds.error();
    return engine::Verdict{true, "", 0, "all agree"};
  }
  Result<engine::Verdict> verify_at_shape(const TrialPlan& plan, const engine::PlainCode& plain) override {
    if (code_of(plan) == "wrong late") return engine::Verdict{false, "h_out", 9, "h_out: wrong at T=4000"};
    return engine::Verdict{true, "", 0,
                           plain.same.identity.strategy + " " + plain.perturbed.identity.strategy +
                               (plain.forward ? " forward" : "")};
  }
  void drop(std::size_t candidate) override { loaded_.erase(candidate); }
  bool alive() const override { return alive_; }

 private:
  std::set<std::size_t> loaded_;
  bool alive_ = true;
};

}  // namespace

Result<std::unique_ptr<Trials>> fake_trials(const TrialSetup& setup) {
  if (setup.seed == 13) return Error{ErrorKind::Device, "out of memory", "take a smaller shape"};
  if (setup.seed == 14) std::_Exit(3);
  return std::unique_ptr<Trials>(new FakeTrials);
}

}  // namespace rondo::tuner::testing
