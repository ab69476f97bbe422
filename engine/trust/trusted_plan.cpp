#include "engine/trust/trusted_plan.h"

#include <fmt/format.h>

#ifdef __linux__
#include <sys/resource.h>
#endif

#include <chrono>
#include <future>

#include "compiler/schedule/strategies.h"
#include "engine/check/device_shape.h"
#include "engine/check/plain.h"

namespace rondo::engine {

namespace {

constexpr std::uint64_t kSeed = 1;  // of the data on first use: the same machine finds the same again

// Which kernels are to be compared as soon as they are there.
enum class Compares : std::uint8_t { None, Recorded, All };

Compares compared_at_first_use(const TrustOptions& options) {
  return options.strict || options.later ? Compares::None : Compares::Recorded;
}

// This thread and those that it starts come after all others where there are more of them than cores. On
// Linux a nice value is a thread's (setpriority(2)); elsewhere nothing is done.
void come_last() {
#ifdef __linux__
  constexpr int kLess = 10;
  (void)setpriority(PRIO_PROCESS, 0, kLess);  // raising it is always allowed
#endif
}

class DeviceWork final : public TrustWork {
 public:
  DeviceWork(const schedule::Task& task, const Machine& machine, const Overrides& overrides,
             std::uint64_t seed, const TrustOptions& options, Compares compares)
      : task_(task),
        machine_(machine),
        overrides_(overrides),
        seed_(seed),
        given_(options.given),
        arbitrary_states_(options.arbitrary_states),
        compares_(compares),
        trial_(options.trial) {}

  Result<Made> make(const ChooseOptions& options) override {
    ready_.reset();  // its memory first
    const auto begin = std::chrono::steady_clock::now();
    Result<Choice> choice = choose_with(task_, overrides_, options);
    if (!choice) return choice.error();
    const std::int64_t turn = schedule::turn_of(choice->strategy, choice->parameters);
    const bool compared =
        compares_ == Compares::All || (compares_ == Compares::Recorded && choice->trial != 0);
    const BeforeCompiling before = [&](const executable::Executable& executable) {
      if (compared) begin_verifier(cases_of(executable, turn));
    };
    Result<ReadyPlan> made = make_ready(task_, machine_, std::move(choice).value(), options.database, before);
    if (!made) return made.error();
    ready_ = std::move(made).value();
    ready_->ready_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return Made{ready_->choice, ready_->compiled.code, ready_->compiled.digest(),
                ready_->plan == nullptr ? ready_->compiled.origin : ""};
  }

  Result<Outcome> verify() override {
    if (ready_->plan == nullptr) return verify_in_trial();
    const Result<Verification> found = check();
    if (!found) return found.error();
    if (found->said() == Said::CannotTell) return Error{ErrorKind::Input, found->summary(), kOtherData};
    return Outcome{found->passed, found->summary()};
  }

  void keep(db::Database& database) override { store_cubin(ready_->compiled, database); }

  Result<Verification> check() {
    const Choice& choice = ready_->choice;
    const std::vector<VerifyCase> cases =
        cases_of(ready_->compiled.executable, schedule::turn_of(choice.strategy, choice.parameters));
    Result<Verifier> verifier =
        verifier_.valid() ? verifier_.get() : Verifier::make(task_, cases, seed_, given_);
    if (!verifier) return verifier.error();
    return verifier->check(*machine_.device, *ready_->plan, cases);
  }

  // Adds what is found at the full shape. What cannot be compared there is said, and is no error.
  Status check_at_shape(Verification& into, db::Database* database) const {
    const Result<Verification> found = at_shape(database);
    if (!found && found.error().kind == ErrorKind::Device) return found.error();
    if (!found) {
      into.covered.push_back(fmt::format("{}the full shape: {}", kNotCovered, found.error().message));
      return success();
    }
    into.checks.insert(into.checks.end(), found->checks.begin(), found->checks.end());
    into.covered.insert(into.covered.end(), found->covered.begin(), found->covered.end());
    into.finish();
    return success();
  }

  ReadyPlan take(Choice choice) {
    ready_->choice = std::move(choice);
    if (ready_->compiled.foreign()) ready_->choice.note += "; its code is " + ready_->compiled.origin;
    return std::move(*ready_);
  }

 private:
  std::vector<VerifyCase> cases_of(const executable::Executable& executable, std::int64_t turn) const {
    return cases_for(task_, coverage_of(executable, turn), gpu_budget(), arbitrary_states_);
  }

  // The reference takes as long as a compiler: beside it, then. It has work for all cores, the compiler for
  // one a kernel, so the compiler comes first.
  void begin_verifier(std::vector<VerifyCase> cases) {
    if (verifier_.valid()) return;
    schedule::Task task = task_;
    task.watcher = nullptr;  // which is this thread's
    verifier_ = std::async(std::launch::async,
                           [task = std::move(task), cases = std::move(cases), seed = seed_, given = given_] {
                             come_last();
                             return Verifier::make(task, cases, seed, given);
                           });
  }

  // Loads the code here once it has passed elsewhere.
  Result<Outcome> verify_in_trial() {
    if (!trial_)
      return Error{ErrorKind::Missing, "there is no trial process to verify it in", "run it by `rondo run`"};
    const Choice& choice = ready_->choice;
    Result<Outcome> found =
        trial_(task_, ready_->compiled.executable, schedule::turn_of(choice.strategy, choice.parameters));
    if (!found || !found->passed) return found;
    Result<std::unique_ptr<runtime::LoadedPlan>> plan = machine_.device->load(ready_->compiled.executable);
    if (!plan) return plan.error();
    ready_->plan = std::move(plan).value();
    return found;
  }

  Result<Verification> at_shape(db::Database* database) const {
    const Choice& choice = ready_->choice;
    Result<PlainPlans> plain = plain_plans(task_, choice.strategy, choice.parameters);
    if (!plain) return plain.error();
    const Result<PlainCode> code = compile_plain(std::move(plain).value(), database);
    if (!code) return code.error();
    return verify_at_shape(task_, *machine_.device, *ready_->plan, *code, seed_, given_);
  }

  const schedule::Task& task_;
  const Machine& machine_;
  const Overrides& overrides_;
  std::uint64_t seed_;
  Given given_;
  bool arbitrary_states_;
  Compares compares_;
  decltype(TrustOptions::trial) trial_;
  std::optional<ReadyPlan> ready_;
  std::future<Result<Verifier>> verifier_;  // that is being made
};

}  // namespace

Result<ReadyPlan> trusted_plan(const schedule::Task& task, const Machine& machine, const Overrides& overrides,
                               const TrustOptions& options) {
  if (Status status = machine.need_device(); !status) return status.error();
  DeviceWork work(task, machine, overrides, kSeed, options, compared_at_first_use(options));
  Result<Choice> choice = trusted_choice(work, machine.platform, task.problem, options);
  if (!choice) return choice.error();
  return work.take(std::move(choice).value());
}

Result<VerifiedPlan> verified_plan(const schedule::Task& task, const Machine& machine,
                                   const Overrides& overrides, std::uint64_t seed,
                                   const TrustOptions& options) {
  if (Status status = machine.need_device(); !status) return status.error();
  DeviceWork work(task, machine, overrides, seed, options, Compares::All);
  // Without a platform: what was found wrong is compared again.
  const Result<TrustWork::Made> made = work.make(options);
  if (!made) return made.error();
  if (!made->origin.empty())
    if (Status status = admit_foreign(work, *made, options); !status) return status.error();
  Result<Verification> found = work.check();
  if (!found) return found.error();
  if (options.at_shape && found->passed)
    if (Status status = work.check_at_shape(*found, options.database); !status) return status.error();
  // What cannot be told proves nothing, and refutes nothing.
  if (options.database != nullptr && made->choice.trial != 0 && found->said() != Said::CannotTell) {
    const Status kept = keep_verification(work, *made, machine.platform, task.problem,
                                          {found->passed, found->summary()}, *options.database);
    if (!kept && options.note) options.note("the result is not kept: " + kept.error().message);
  }
  return VerifiedPlan{work.take(made->choice), *found};
}

}  // namespace rondo::engine
