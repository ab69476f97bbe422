#include "tuner/measure/measure.h"

#include <algorithm>
#include <cmath>

namespace rondo::tuner {

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
  const Result<double> seconds =
      take_sample(work, repetitions, sets, next_set_,
                  [&](const std::function<Status()>& submit) { return device_->seconds_of(submit); });
  if (!seconds) return seconds.error();
  return *seconds / repetitions;
}

namespace {

int repetitions_for(double seconds, const TimingPlan& plan) {
  const double wanted = std::ceil(plan.sample_s / std::max(seconds, 1e-7));
  return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(std::max(1, plan.most_repetitions))));
}

}  // namespace

Result<std::vector<double>> Timer::time(const TimedWork& work, const TimingPlan& plan, double expected_s) {
  if (plan.warm_up > 0 || expected_s <= 0) {
    const Result<double> warm = sample(work, std::max(1, plan.warm_up), plan.sets);
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
    const Result<double> seconds = sample(work, repetitions_for(expected_s, plan), plan.sets);
    if (!seconds) return seconds.error();
    result.push_back(*seconds);
    expected_s = *seconds;
  }
  return result;
}

Result<double> copy_bandwidth(Timer& timer, std::size_t bytes, int samples) {
  const runtime::Device& device = timer.device();
  if (bytes == 0) bytes = device.copy_bytes();
  Result<runtime::Memory> from = device.allocate(bytes);
  Result<runtime::Memory> to = device.allocate(bytes);
  if (!from || !to) {
    constexpr std::size_t kLeast = std::size_t{1} << 24;
    if (bytes / 2 < kLeast) return from ? to.error() : from.error();
    if (from) from = runtime::Memory();
    if (to) to = runtime::Memory();
    return copy_bandwidth(timer, bytes / 2, samples);
  }
  if (Status status = device.fill(from->address(), 0x3C, bytes); !status) return status.error();
  TimingPlan plan;
  plan.warm_up = 2;
  plan.samples = samples;
  plan.sample_s = 2e-3;
  const Result<std::vector<double>> seconds =
      timer.time([&](int) { return device.copy(to->address(), from->address(), bytes); }, plan);
  if (!seconds) return seconds.error();
  const double once = median(*seconds);
  if (once <= 0) return Error{ErrorKind::Device, "a device copy took no time by the clock", ""};
  return 2.0 * static_cast<double>(bytes) / once;
}

}  // namespace rondo::tuner
