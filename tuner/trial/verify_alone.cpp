#include "tuner/trial/verify_alone.h"

#include "tuner/trial/process.h"

namespace rondo::tuner {

Result<engine::Compared> verify_alone(const schedule::Task& task, const executable::Executable& executable,
                                      std::int64_t turn, const std::string& worker,
                                      const engine::Given& given) {
  TrialProcessOptions options;
  options.executable = worker;
  TrialProcess process({task, 1, given}, options);
  if (Status status = process.start(); !status) return status.error();
  const TrialPlan plan{0, &executable, turn};
  // A kernel that hangs is found by its first run, whose limit is short.
  constexpr double kShort = 1e-3;  // seconds
  if (const auto ran = process.run(plan, 1, kShort); !ran) return ran.error();
  const Result<engine::Verdict> verdict = process.verify(plan);
  if (!verdict) return verdict.error();
  return engine::Compared{verdict->passed, verdict->summary};
}

}  // namespace rondo::tuner
