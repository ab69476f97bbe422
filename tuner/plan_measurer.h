// The Measurer of real kernels: builds plans, compiles them in worker processes, and runs them on a GPU if
// there is one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/compile_worker.h"
#include "tuner/measure.h"
#include "tuner/search.h"
#include "tuner/verify.h"

namespace rondo::tuner {

struct PlanMeasurerOptions {
  int workers = 1;
  std::chrono::milliseconds compile_limit{20000};  // for each candidate
  const std::atomic<bool>* cancel = nullptr;
  db::Database* database = nullptr;  // cubins are looked up there; not stored
  std::uint64_t seed = 1;
};

class PlanMeasurer final : public Measurer {
 public:
  // `context` null: no GPU. With one: makes the data for timing and the reference for verification now.
  // `candidates` and all pointers outlive the measurer. Errors: Missing without NVRTC, those of the
  // reference, Device.
  static Result<std::unique_ptr<PlanMeasurer>> make(const step::Cell& cell, const schedule::Problem& problem,
                                                    const target::Profile& profile,
                                                    const std::vector<runtime::Candidate>& candidates,
                                                    const runtime::Context* context,
                                                    const PlanMeasurerOptions& options);

  bool can_run() const override { return gpu_ != nullptr; }
  int compile_slots() const override { return options_.workers; }
  void compile(std::size_t candidate) override;
  std::optional<Compiled> next_compiled(double timeout_s) override;
  void stop_compiling() override;
  Result<std::vector<double>> run(std::size_t candidate, int samples, double sample_s) override;
  Result<std::vector<std::vector<double>>> run_interleaved(const std::vector<std::size_t>& candidates,
                                                           int rounds,
                                                           const std::function<bool()>& stop) override;
  Status verify(std::size_t candidate) override;
  void drop(std::size_t candidate) override;
  bool alive() const override { return alive_; }

  // The compiled plan of a candidate that was not dropped, or null.
  const runtime::CompiledPlan* plan(std::size_t candidate) const;
  EventTimer* timer() { return gpu_ ? &gpu_->timer : nullptr; }  // null without a GPU

 private:
  struct Gpu {
    const runtime::Context* context;
    EventTimer timer;
    RunData data;
    Verifier verifier;
  };
  struct Entry {
    runtime::CompiledPlan compiled;
    std::optional<runtime::DevicePlan> loaded;
    double expected_s = 0;
  };

  PlanMeasurer(const step::Cell& cell, const schedule::Problem& problem,
               const std::vector<runtime::Candidate>& candidates, const PlanMeasurerOptions& options);
  Compiled finished(std::size_t candidate, Entry& entry);
  Compiled take(runtime::CompileOutcome outcome);
  Compiled failed(std::size_t candidate, db::TrialStatus status, const std::string& reason);
  Result<const runtime::DevicePlan*> loaded(std::size_t candidate);
  Error broken(Error error);  // after a failure on the device: is the context still usable?

  std::shared_ptr<const step::Cell> cell_;
  schedule::Problem problem_;
  const std::vector<runtime::Candidate>& candidates_;
  PlanMeasurerOptions options_;
  runtime::Compiler compiler_;
  std::unique_ptr<Gpu> gpu_;
  std::map<std::size_t, Entry> entries_;  // destroyed before gpu_
  std::vector<Compiled> ready_;           // cached cubins, and builds that failed
  std::unique_ptr<runtime::CompilePool> pool_;
  bool alive_ = true;
};

}  // namespace rondo::tuner
