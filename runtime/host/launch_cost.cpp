#include "runtime/host/launch_cost.h"

#include <algorithm>
#include <cmath>

namespace rondo::runtime {

namespace {

// 256 launches of almost nothing took 1.4 ms on 16 threads and 0.06 ms on one.
constexpr double kThreadNs = 330;
constexpr float kMostGrowth = 4;  // of a measurement: beyond, the thread was interrupted
constexpr std::uint32_t kAlways = 4, kEach = 16;

}  // namespace

// With n threads a launch takes work / n + n kThreadNs, least for n = sqrt(work / kThreadNs).
int LaunchCost::threads(std::int64_t blocks, int most) {
  most = static_cast<int>(std::clamp<std::int64_t>(blocks, 1, most));
  const double block = block_ns_.load(std::memory_order_relaxed);
  if (block == 0) return most;
  const double best = std::sqrt(block * static_cast<double>(blocks) / kThreadNs);
  const int last = last_.load(std::memory_order_relaxed);
  if (last > 0 && std::abs(best - last) <= 0.25 * last) return std::min(last, most);
  const int chosen = std::max(1, static_cast<int>(std::min<double>(best, most)));
  last_.store(chosen, std::memory_order_relaxed);
  return chosen;
}

void LaunchCost::measured(double nanoseconds, std::int64_t blocks) {
  if (blocks == 0) return;
  const auto block = static_cast<float>(std::max(1.0, nanoseconds / static_cast<double>(blocks)));
  const float before = block_ns_.load(std::memory_order_relaxed);
  // What delays a thread only ever adds, so that less time is believed at once. (The first launch finds cold
  // caches.)
  const bool believed = before == 0 || block < before;
  const float more = 0.75f * before + 0.25f * std::min(block, kMostGrowth * before);
  block_ns_.store(believed ? block : more, std::memory_order_relaxed);
}

bool LaunchCost::is_due(std::uint32_t launch) { return launch < kAlways || launch % kEach == 0; }

}  // namespace rondo::runtime
