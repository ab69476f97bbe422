#include "engine/measure/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/measure/core_wait.h"

namespace rondo::engine {

Result<double> take_sample(const TimedWork& work, int repetitions, int sets, int& next_set,
                           const TimeOnce& timed) {
  sets = std::max(1, sets);
  next_set %= sets;
  if (work.prepare)
    for (int i = 0; i < std::min(repetitions, sets); ++i) work.prepare((next_set + i) % sets, sets);
  return timed([&]() -> Status {
    for (int i = 0; i < repetitions; ++i) {
      if (Status status = work.run(next_set); !status) return status;
      next_set = (next_set + 1) % sets;
    }
    return success();
  });
}

Result<double> Timer::sample(const TimedWork& work, int repetitions, int sets) {
  return sample(work, repetitions, sets, Begin::WhenSubmitted);
}

Result<double> Timer::sample(const TimedWork& work, int repetitions, int sets, Begin begin) {
  const auto turn = device_->turn();
  const TimeOnce timed = [&](const std::function<Status()>& submit) -> Result<double> {
    if (begin == Begin::AtOnce) return device_->seconds_of(submit);
    Result<std::shared_ptr<void>> held = device_->hold();
    if (!held) return held.error();
    return device_->seconds_of([&] {
      const Status submitted = submit();
      held->reset();
      return submitted;
    });
  };
  const Result<double> seconds = take_sample(work, repetitions, sets, next_set_, timed);
  if (!seconds) return seconds.error();
  return *seconds / repetitions;
}

namespace {

int repetitions_for(double seconds, const TimingPlan& plan) {
  const double wanted = std::ceil(plan.sample_s / std::max(seconds, 1e-7));
  return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(std::max(1, plan.most_repetitions))));
}

}  // namespace

// A thread that waits for a core makes all others wait at the end of the launch, for as long as another
// program is given that core: some milliseconds, which is many launches.
Result<double> Timer::calm_sample(const TimedWork& work, int repetitions, const TimingPlan& plan) {
  if (plan.retries == 0) return sample(work, repetitions, plan.sets);
  constexpr double kCalm = 0.02;  // of the sample's time
  double best = 0, least = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn <= plan.retries && least > kCalm; ++turn) {
    const double before = waited_for_cores_s();
    const Result<double> seconds = sample(work, repetitions, plan.sets);
    if (!seconds) return seconds.error();
    const double waited = (waited_for_cores_s() - before) / std::max(*seconds * repetitions, 1e-9);
    if (waited < least) least = waited, best = *seconds;
  }
  return best;
}

Result<std::vector<double>> Timer::time(const TimedWork& work, const TimingPlan& plan, double expected_s) {
  const auto turn = device_->turn();
  if (plan.warm_up > 0 || expected_s <= 0) {
    // Its first launch may wait for the GPU to load the code, so nothing is held yet.
    const Result<double> warm = sample(work, std::max(1, plan.warm_up), plan.sets, Begin::AtOnce);
    if (!warm) return warm.error();
    if (expected_s <= 0) {
      const Result<double> again =
          sample(work, 1, plan.sets);  // the very first run paid for loading the code
      if (!again) return again.error();
      expected_s = std::min(*warm, *again);
    }
  }
  std::vector<double> result;
  for (int i = 0; i < plan.samples; ++i) {
    const Result<double> seconds = calm_sample(work, repetitions_for(expected_s, plan), plan);
    if (!seconds) return seconds.error();
    result.push_back(*seconds);
    expected_s = *seconds;
  }
  return result;
}

}  // namespace rondo::engine
