// Trials in a worker process: one that hangs or crashes costs one trial, not the tuning run.
#pragma once

#include <atomic>
#include <chrono>
#include <set>

#include "engine/worker/connection.h"
#include "tuner/trial/message.h"
#include "tuner/trial/trials.h"

namespace rondo::tuner {

inline constexpr engine::WorkerKind kTrialWorker{"--rondo-trial-worker", "rondo trial worker 6"};

struct TrialProcessOptions {
  std::chrono::milliseconds limit{30000};  // for each trial: loading and running
  // For the context and the data, and for a comparison, in which the reference computes on the CPU: it takes
  // as long as the CPU is busy. A kernel that hangs was found by its first run.
  std::chrono::milliseconds setup_limit{120000};
  // The program started as a worker: its main() calls maybe_run_trial_worker first. "" takes the environment
  // variable RONDO_WORKER, else this program.
  std::string executable;
  const std::atomic<bool>* cancel = nullptr;  // when it turns true the trial is stopped at once
};

// The worker keeps its context, data and loaded kernels from trial to trial. It is killed at the time limit
// and when a trial broke its context; a new one is started for the next trial. Errors of trials, beside their
// own: Cancelled (the time limit, or the flag), Device (the process crashed).
class TrialProcess final : public Trials {
 public:
  TrialProcess(TrialSetup setup, TrialProcessOptions options)
      : setup_(std::move(setup)), options_(std::move(options)) {}

  // Starts the worker if there is none. Errors: Missing (the program does not serve as such a worker), those
  // of the set-up.
  Status start();

  Result<double> copy_bandwidth() override;
  Result<std::vector<double>> run(const TrialPlan& plan, int samples, double sample_s) override;
  Result<std::vector<double>> round(const std::vector<TrialPlan>& plans) override;
  Result<engine::Verdict> verify(const TrialPlan& plan, std::uint64_t seed = 0) override;
  Result<engine::Verdict> verify_at_shape(const TrialPlan& plan, const engine::PlainCode& plain) override;
  void drop(std::size_t candidate) override;
  bool alive() const override { return alive_; }

  int started() const { return started_; }  // workers so far
  // Whether the last set-up was answered with an error: a worker could be started, but it cannot run the
  // trials.
  bool refused() const { return refused_; }

 private:
  Result<TrialAnswer> trial(TrialRequest request, const std::vector<TrialPlan>& plans);
  Result<std::vector<double>> times(TrialRequest request, const std::vector<TrialPlan>& plans);
  // One question to the worker there is.
  Result<TrialAnswer> ask(const TrialRequest& request, std::chrono::milliseconds limit);
  Error lost(const engine::CallOutcome& outcome, std::chrono::milliseconds limit);
  void forget();

  TrialSetup setup_;
  TrialProcessOptions options_;
  std::optional<engine::WorkerConnection> worker_;
  std::set<std::size_t> known_;  // candidates whose code the worker has
  int started_ = 0;
  bool alive_ = true;
  bool refused_ = false;
};

}  // namespace rondo::tuner
