#include "tests/tuner/trial/fake_trials.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <set>

namespace rondo::tuner::testing {
namespace {

class FakeTrials final : public Trials {
 public:
  Result<double> copy_bandwidth() override { return 4e12; }
  Result<std::vector<double>> run(const TrialPlan& plan, int samples, double) override {
    loaded_.insert(plan.candidate);
    if (plan.cubin == "hang")
      while (true) ::pause();
    if (plan.cubin == "segfault") std::raise(SIGSEGV);
    if (plan.cubin == "exit") std::_Exit(7);
    if (plan.cubin == "lost") alive_ = false;
    if (plan.cubin == "error" || plan.cubin == "lost")
      return Error{ErrorKind::Device, "an illegal memory access was encountered", "as planted"};
    const double value =
        plan.cubin == "known" ? static_cast<double>(loaded_.size()) : static_cast<double>(::getpid());
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
  Status verify(const TrialPlan& plan) override {
    if (plan.cubin == "wrong") return Error{ErrorKind::Wrong, "h_out: error 3.1e-01 (limit 4.0e-03)", ""};
    const auto seconds = run(plan, 1, 0);
    return seconds ? success() : Status(seconds.error());
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
