// The Measurer of real kernels: builds plans, compiles them in worker processes, and lets them run on a
// device, in another, if there is one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/schedule/problem/task.h"
#include "engine/plan/compile.h"
#include "engine/worker/compile_worker.h"
#include "runtime/device/device.h"
#include "tuner/search/search.h"
#include "tuner/trial/trials.h"

namespace rondo::tuner {

struct PlanMeasurerOptions {
  int workers = 1;
  std::chrono::milliseconds compile_limit{20000};  // for each candidate
  std::chrono::milliseconds trial_limit{30000};  // for each trial; 0: trials in this process, without a limit
  const std::atomic<bool>* cancel = nullptr;
  db::Database* database = nullptr;  // cubins are looked up there; not stored
  std::uint64_t seed = 1;
  engine::Given given;  // what of the data is not random
  std::string worker;   // see TuneOptions
};

class PlanMeasurer final : public Measurer {
 public:
  // `device` null: there is none. With one: makes the data for timing and the reference for verification now,
  // in the process of the trials. `candidates` and all pointers outlive the measurer. Errors: Missing without
  // a compiler, those of the reference, Device.
  static Result<std::unique_ptr<PlanMeasurer>> make(const schedule::Task& task,
                                                    const std::vector<engine::Candidate>& candidates,
                                                    std::shared_ptr<const runtime::Device> device,
                                                    const PlanMeasurerOptions& options);

  bool can_run() const override { return trials_ != nullptr; }
  int compile_slots() const override { return options_.workers; }
  std::optional<std::size_t> twin(std::size_t candidate) const override;
  void compile(std::size_t candidate) override;
  std::optional<Compiled> next_compiled(double timeout_s) override;
  void stop_compiling() override;
  Result<std::vector<double>> run(std::size_t candidate, int samples, double sample_s) override;
  Result<std::vector<std::vector<double>>> run_interleaved(const std::vector<std::size_t>& candidates,
                                                           int rounds,
                                                           const std::function<bool()>& stop) override;
  Result<engine::Verdict> verify(std::size_t candidate, std::uint64_t seed) override;
  Result<engine::Verdict> verify_at_shape(std::size_t candidate) override;
  void drop(std::size_t candidate) override;
  bool alive() const override { return trials_ == nullptr || trials_->alive(); }

  // The compiled plan of a candidate that was not dropped, or null.
  const engine::CompiledPlan* plan(std::size_t candidate) const;
  Trials* trials() { return trials_.get(); }  // null without a device
  // Why trials run in this process although they were to run in another; "" otherwise.
  const std::string& note() const { return note_; }

 private:
  PlanMeasurer(const schedule::Task& task, const std::vector<engine::Candidate>& candidates,
               const PlanMeasurerOptions& options);
  void find_other();
  Status begin_trials(std::shared_ptr<const runtime::Device> device);
  void await_compilers();
  Compiled finished(std::size_t candidate, const engine::CompiledPlan& plan);
  Compiled take(engine::CompileOutcome outcome);
  Compiled failed(std::size_t candidate, db::TrialStatus status, const std::string& reason);
  Result<TrialPlan> trial_plan(std::size_t candidate) const;

  std::shared_ptr<const schedule::Task> task_;
  const std::vector<engine::Candidate>& candidates_;
  PlanMeasurerOptions options_;
  std::string asked_;  // schedule::asked_hash() of all candidates
  // A backend with the version of its compiler.
  struct Compiler {
    const backend::Backend* backend = nullptr;
    std::string version;
  };
  // The candidates, and then their twins.
  const engine::Candidate& chosen(std::size_t candidate) const {
    return candidates_[candidate % candidates_.size()];
  }
  const Compiler& compiler_of(std::size_t candidate) const {
    return candidate < candidates_.size() ? compiler_ : other_;
  }
  Compiler compiler_;
  Compiler other_;  // of the twins; none where a backend was asked for by name, or there is no other
  std::map<std::size_t, engine::CompiledPlan> plans_;
  std::vector<Compiled> ready_;  // cached cubins, and builds that failed
  std::unique_ptr<engine::CompilePool> pool_;
  std::unique_ptr<Trials> trials_;
  std::string note_;
};

}  // namespace rondo::tuner
