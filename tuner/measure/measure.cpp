#include "tuner/measure/measure.h"

#include <algorithm>
#include <cmath>

namespace rondo::tuner {

using runtime::StreamHandle;

Result<EventTimer> EventTimer::make() {
  Result<runtime::Stream> stream = runtime::Stream::create();
  if (!stream) return stream.error();
  Result<runtime::Event> start = runtime::Event::create();
  if (!start) return start.error();
  Result<runtime::Event> end = runtime::Event::create();
  if (!end) return end.error();
  return EventTimer(std::move(stream).value(), std::move(start).value(), std::move(end).value());
}

Status submit_sample(const TimedWork& work, StreamHandle stream, int repetitions, int sets, int& next_set,
                     const std::function<Status()>& begin) {
  sets = std::max(1, sets);
  next_set %= sets;
  if (work.prepare)
    for (int i = 0; i < std::min(repetitions, sets); ++i) work.prepare((next_set + i) % sets, sets);
  if (Status status = begin(); !status) return status;
  for (int i = 0; i < repetitions; ++i) {
    if (Status status = work.run(stream, next_set); !status) return status;
    next_set = (next_set + 1) % sets;
  }
  return success();
}

Result<double> EventTimer::sample(const TimedWork& work, int repetitions, int sets) {
  const Status submitted =
      submit_sample(work, stream(), repetitions, sets, next_set_, [&] { return start_.record(stream()); });
  if (!submitted) return submitted.error();
  if (Status status = end_.record(stream()); !status) return status.error();
  if (Status status = end_.synchronize(); !status) return status.error();
  const Result<float> elapsed = end_.elapsed_ms_since(start_);
  if (!elapsed) return elapsed.error();
  return static_cast<double>(*elapsed) * 1e-3 / repetitions;
}

namespace {

int repetitions_for(double seconds, const TimingPlan& plan) {
  const double wanted = std::ceil(plan.sample_s / std::max(seconds, 1e-7));
  return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(std::max(1, plan.most_repetitions))));
}

}  // namespace

Result<std::vector<double>> EventTimer::time(const TimedWork& work, const TimingPlan& plan,
                                             double expected_s) {
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

Result<double> copy_bandwidth(EventTimer& timer, std::size_t bytes, int samples) {
  Result<runtime::DeviceBuffer> from = runtime::DeviceBuffer::allocate(bytes);
  Result<runtime::DeviceBuffer> to = runtime::DeviceBuffer::allocate(bytes);
  if (!from || !to) {
    constexpr std::size_t kLeast = std::size_t{1} << 24;
    if (bytes / 2 < kLeast) return from ? to.error() : from.error();
    if (from) from = runtime::DeviceBuffer();
    if (to) to = runtime::DeviceBuffer();
    return copy_bandwidth(timer, bytes / 2, samples);
  }
  if (Status status = from->fill(0x3C, timer.stream()); !status) return status.error();
  TimingPlan plan;
  plan.warm_up = 2;
  plan.samples = samples;
  plan.sample_s = 2e-3;
  const Result<std::vector<double>> seconds =
      timer.time([&](StreamHandle stream,
                     int) { return runtime::copy_on_device(to->address(), from->address(), bytes, stream); },
                 plan);
  if (!seconds) return seconds.error();
  const double once = median(*seconds);
  if (once <= 0) return Error{ErrorKind::Device, "a device copy took no time by the events", ""};
  return 2.0 * static_cast<double>(bytes) / once;
}

}  // namespace rondo::tuner
