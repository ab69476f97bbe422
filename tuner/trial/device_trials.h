// Trials on a device in this process.
#pragma once

#include <map>
#include <memory>

#include "engine/check/verify.h"
#include "engine/measure/copies.h"
#include "engine/measure/measure.h"
#include "tuner/trial/trials.h"

namespace rondo::tuner {

engine::Verdict verdict_of(const engine::Verification& verification);

class DeviceTrials final : public Trials {
 public:
  // Makes the data for timing and the reference for verification now. Errors: those of the reference, Device.
  static Result<std::unique_ptr<Trials>> make(const TrialSetup& setup,
                                              std::shared_ptr<const runtime::Device> device);

  Result<double> copy_bandwidth() override { return engine::copy_bandwidth(timer_); }
  Result<std::vector<double>> run(const TrialPlan& plan, int samples, double sample_s) override;
  Result<std::vector<double>> round(const std::vector<TrialPlan>& plans) override;
  Result<engine::Verdict> verify(const TrialPlan& plan, std::uint64_t seed = 0) override;
  Result<engine::Verdict> verify_at_shape(const TrialPlan& plan, const engine::PlainCode& plain) override;
  void drop(std::size_t candidate) override { loaded_.erase(candidate); }
  bool alive() const override { return alive_; }

 private:
  struct Loaded {
    std::unique_ptr<runtime::LoadedPlan> plan;
    double expected_s = 0;
  };

  DeviceTrials(const TrialSetup& setup, std::shared_ptr<const runtime::Device> device, engine::RunData data,
               engine::Verifier verifier)
      : setup_(setup),
        device_(std::move(device)),
        timer_(*device_),
        data_(std::move(data)),
        verifier_(std::move(verifier)) {}
  Result<Loaded*> loaded(const TrialPlan& plan);
  static Result<engine::Verifier> make_verifier(const TrialSetup& setup, std::uint64_t seed);
  Error broken(Error error);  // after a failure on the device: is it still usable?

  TrialSetup setup_;
  std::shared_ptr<const runtime::Device> device_;  // destroyed after what lives in it
  engine::Timer timer_;
  engine::RunData data_;
  engine::Verifier verifier_;
  int rounds_ = 0;                        // that were run, each of which begins with the next input set
  std::map<std::size_t, Loaded> loaded_;  // destroyed first
  bool alive_ = true;
};

}  // namespace rondo::tuner
