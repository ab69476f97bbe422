// Trials on the GPU in this process.
#pragma once

#include <map>
#include <memory>

#include "tuner/check/verify.h"
#include "tuner/measure/measure.h"
#include "tuner/trial/trials.h"

namespace rondo::tuner {

Verdict verdict_of(const Verification& verification);

class GpuTrials final : public Trials {
 public:
  // Makes the data for timing and the reference for verification now. `context` outlives the trials. Errors:
  // those of the reference, Device.
  static Result<std::unique_ptr<Trials>> make(const TrialSetup& setup, const runtime::Context& context);
  // The same with a context of its own, on the first GPU.
  static Result<std::unique_ptr<Trials>> make_alone(const TrialSetup& setup);

  Result<double> copy_bandwidth() override { return tuner::copy_bandwidth(timer_); }
  Result<std::vector<double>> run(const TrialPlan& plan, int samples, double sample_s) override;
  Result<std::vector<double>> round(const std::vector<TrialPlan>& plans) override;
  Result<Verdict> verify(const TrialPlan& plan, std::uint64_t seed = 0) override;
  Result<Verdict> verify_at_shape(const TrialPlan& plan, const PlainCode& plain) override;
  void drop(std::size_t candidate) override { loaded_.erase(candidate); }
  bool alive() const override { return alive_; }

 private:
  struct Loaded {
    runtime::DevicePlan plan;
    double expected_s = 0;
  };

  using Context = std::shared_ptr<const runtime::Context>;

  GpuTrials(const TrialSetup& setup, Context context, EventTimer timer, RunData data, Verifier verifier)
      : setup_(setup),
        context_(std::move(context)),
        timer_(std::move(timer)),
        data_(std::move(data)),
        verifier_(std::move(verifier)) {}
  static Result<std::unique_ptr<Trials>> make_in(const TrialSetup& setup, Context context);
  Result<Loaded*> loaded(const TrialPlan& plan);
  static Result<Verifier> make_verifier(const TrialSetup& setup, std::uint64_t seed);
  Error broken(Error error);  // after a failure on the device: is the context still usable?

  TrialSetup setup_;
  Context context_;  // destroyed after what lives in it
  EventTimer timer_;
  RunData data_;
  Verifier verifier_;
  std::map<std::size_t, Loaded> loaded_;  // destroyed first
  bool alive_ = true;
};

}  // namespace rondo::tuner
