#include "engine/measure/copies.h"

#include <algorithm>
#include <utility>

namespace rondo::engine {

Result<CopyData> CopyData::make(const runtime::Device& device, std::size_t bytes, int sets) {
  CopyData data;
  data.device_ = &device;
  for (int set = 0; set < sets; ++set) {
    Result<runtime::Memory> from = device.allocate(bytes), to = device.allocate(bytes);
    if (!from || !to) {
      if (data.sets() > 0) break;
      return from ? to.error() : from.error();
    }
    // Pages that nobody has written may all be the same one.
    if (Status status = device.fill(from->address(), 0x3C, bytes); !status) return status.error();
    if (Status status = device.fill(to->address(), 0x3C, bytes); !status) return status.error();
    data.from_.push_back(std::move(*from));
    data.to_.push_back(std::move(*to));
  }
  return data;
}

TimedWork CopyData::work() const {
  return TimedWork([this](int set) {
    const std::size_t place = static_cast<std::size_t>(set) % from_.size();
    return device_->copy(to_[place].address(), from_[place].address(), from_[place].bytes());
  });
}

namespace {

constexpr int kRetries = 10;
constexpr double kCopySample = 2e-3;  // seconds

TimingPlan plan_of(int warm_up, int samples, int sets) {
  TimingPlan plan;
  plan.warm_up = warm_up;
  plan.samples = samples;
  plan.sample_s = kCopySample;
  plan.sets = sets;
  plan.retries = kRetries;
  return plan;
}

}  // namespace

Result<double> copy_bandwidth(Timer& timer, std::size_t bytes, int samples) {
  const runtime::Device& device = timer.device();
  if (bytes == 0) bytes = device.copy_bytes();
  const Result<CopyData> data = CopyData::make(device, bytes, device.copy_sets());
  if (!data) {
    constexpr std::size_t kLeast = std::size_t{1} << 24;
    if (bytes / 2 < kLeast) return data.error();
    return copy_bandwidth(timer, bytes / 2, samples);
  }
  TimingPlan plan = plan_of(2, samples, data->sets());
  if (device.copy_sets() == 1) plan.retries = 0;
  const Result<std::vector<double>> seconds = timer.time(data->work(), plan);
  if (!seconds) return seconds.error();
  const double once = median(*seconds);
  if (once <= 0) return Error{ErrorKind::Device, "a device copy took no time by the clock"};
  return 2.0 * static_cast<double>(bytes) / once;
}

double TimesBesideCopies::share() const {
  std::vector<double> shares;
  for (std::size_t i = 0; i < kernel.size(); ++i) shares.push_back(copies[i] / std::max(kernel[i], 1e-12));
  return median(shares);
}

Status BesideCopies::add(const TimedWork& kernel, int sets, int samples) {
  const auto half = static_cast<std::size_t>(std::max<std::int64_t>(bytes_ / 2, 1));
  const std::int64_t enough = (2 * cache_bytes_ + bytes_ - 1) / std::max<std::int64_t>(bytes_, 1);
  const Result<CopyData> data =
      CopyData::make(device_, half, static_cast<int>(std::clamp<std::int64_t>(enough, 1, 32)));
  if (!data) return data.error();
  struct Side {
    TimedWork work;
    int sets;
    std::vector<double>& seconds;
    Timer timer;
    double expected_s = 0;
  };
  Side sides[] = {{kernel, sets, times_.kernel, Timer(device_)},
                  {data->work(), data->sets(), times_.copies, Timer(device_)}};
  for (int sample = 0; sample < samples; ++sample)
    for (Side& side : sides) {
      const TimingPlan plan = plan_of(sample == 0 ? 2 : 0, 1, side.sets);
      const auto seconds = side.timer.time(side.work, plan, side.expected_s);
      if (!seconds) return seconds.error();
      side.expected_s = seconds->front();
      side.seconds.push_back(seconds->front());
    }
  return success();
}

}  // namespace rondo::engine
