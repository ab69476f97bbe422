// What `calibrate` measures of CPUs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/measure/copies.h"
#include "engine/measure/measure.h"
#include "runtime/host/thread_pool.h"
#include "tuner/calibrate/calibrate.h"
#include "tuner/calibrate/cpu_probes.h"

namespace rondo::tuner {

namespace {

constexpr std::size_t kFar = std::size_t{1} << 28;  // bytes of a pointer chain that no cache holds
constexpr std::size_t kLine = 64;
constexpr double kLeastLaunch = 1e-8;  // seconds; of a single thread, which calls its blocks itself

class CpuProbes {
 public:
  CpuProbes(const target::Profile& profile, const runtime::Device& device)
      : profile_(profile), device_(device), timer_(device) {}

  Result<double> clock_hz() {
    constexpr std::uint64_t kRounds = 20'000'000;
    return rate(kRounds, [&] { kept_ += chain_of_additions(kRounds); });
  }

  // Of all threads, in numbers a second.
  Result<double> multiply_adds_per_s() {
    constexpr std::uint64_t kRounds = 1'000'000;
    if (multiply_adds(profile_.target, 1, keep_.data()) == 0) return 0.0;
    double numbers = 0;
    const auto seconds = least_of([&] {
      numbers = on_each([&](int thread) {
        std::array<float, 2> keep{};
        const double done = multiply_adds(profile_.target, kRounds, keep.data());
        if (keep[1] == 12345.678f) kept_ = static_cast<std::uint64_t>(thread);  // never: keeps the sums
        return done;
      });
    });
    if (!seconds) return seconds.error();
    return numbers / *seconds;
  }

  // From one launch of a block for each thread to the next.
  Result<double> launch_s() {
    constexpr int kLaunches = 2000;
    const auto seconds = least_of([&] {
      for (int i = 0; i < kLaunches; ++i) on_each([](int) { return 0.0; });
    });
    if (!seconds) return seconds.error();
    return std::max(*seconds / kLaunches, kLeastLaunch);
  }

  // What all threads read of half of their second caches.
  Result<double> second_cache_bytes_per_s() {
    constexpr int kRounds = 64;
    const std::size_t count = static_cast<std::size_t>(profile_.cpu.l2_bytes) / 2 / sizeof(float) / 64 * 64;
    std::vector<std::vector<float>> all(threads(), std::vector<float>(count, 1.0f));
    const auto seconds = least_of([&] {
      on_each([&](int thread) {
        float sum = 0;
        for (int round = 0; round < kRounds; ++round)
          sum += sum_of(profile_.target, all[static_cast<std::size_t>(thread)].data(), count);
        return static_cast<double>(sum);
      });
    });
    if (!seconds) return seconds.error();
    return static_cast<double>(threads() * count * sizeof(float)) * kRounds / *seconds;
  }

  Result<double> thread_bytes_per_s() {
    const Result<runtime::Memory> from = device_.allocate(kFar), to = device_.allocate(kFar);
    if (!from || !to) return from ? to.error() : from.error();
    if (Status status = device_.fill(from->address(), 1, kFar); !status) return status.error();
    const auto seconds = least_of([&] {
      std::memcpy(reinterpret_cast<void*>(to->address()), reinterpret_cast<const void*>(from->address()),
                  kFar);
    });
    if (!seconds) return seconds.error();
    return 2 * static_cast<double>(kFar) / *seconds;
  }

  Result<double> latency_s() {
    constexpr std::size_t kHops = 20'000,
                          kStride = 1'048'583;  // a prime: hops of pages that no prefetcher foresees
    std::vector<std::uint32_t> next(kFar / kLine * (kLine / sizeof(std::uint32_t)));
    constexpr std::size_t kLines = kFar / kLine, kWords = kLine / sizeof(std::uint32_t);
    for (std::size_t i = 0; i < kLines; ++i)
      next[i * kWords] = static_cast<std::uint32_t>((i + kStride) % kLines);
    std::size_t at = 0;
    const auto seconds = least_of([&] {
      for (std::size_t hop = 0; hop < kHops; ++hop) at = next[at * kWords];
    });
    kept_ += at;
    if (!seconds) return seconds.error();
    return *seconds / static_cast<double>(kHops);
  }

  Result<double> copy_bytes_per_s() { return engine::copy_bandwidth(timer_); }

 private:
  std::size_t threads() const { return static_cast<std::size_t>(runtime::ThreadPool::shared().threads()); }

  // Seconds of the work: the least of several, because other programs only make it longer.
  template <class Work>
  Result<double> least_of(const Work& work) {
    engine::TimingPlan plan;
    plan.most_repetitions = 1;
    const auto seconds = timer_.time(
        [&](int) {
          work();
          return success();
        },
        plan);
    if (!seconds) return seconds.error();
    return std::max(*std::ranges::min_element(*seconds), 1e-12);
  }
  template <class Work>
  Result<double> rate(std::uint64_t operations, const Work& work) {
    const auto seconds = least_of(work);
    if (!seconds) return seconds.error();
    return static_cast<double>(operations) / *seconds;
  }

  // Runs the work once on each thread's share, at the same time; the sum of what it gives.
  template <class Work>
  double on_each(const Work& work) {
    struct Call {
      const Work& work;
      std::vector<double> results;
    } call{work, std::vector<double>(threads())};
    runtime::ThreadPool::shared().run(
        static_cast<std::int64_t>(threads()),
        [](void* context, std::int64_t block, int) {
          Call& of = *static_cast<Call*>(context);
          of.results[static_cast<std::size_t>(block)] = of.work(static_cast<int>(block));
        },
        &call);
    double sum = 0;
    for (const double result : call.results) sum += result;
    return sum;
  }

  const target::Profile& profile_;
  const runtime::Device& device_;
  engine::Timer timer_;
  std::array<float, 2> keep_{};
  std::uint64_t kept_ = 0;
};

}  // namespace

Result<target::Profile> calibrate_cpus(const engine::Machine& machine, const CalibrateOptions& options) {
  target::Profile profile = target::host_profile(machine.profile.target);
  target::Speeds& speeds = profile.speeds;
  CpuProbes probes(profile, *machine.device);
  double multiply_adds = 0;
  const Status measured = run_steps(
      {
          {"clock under load", &speeds.clock_hz, [&] { return probes.clock_hz(); }},
          {"multiply-adds", &multiply_adds, [&] { return probes.multiply_adds_per_s(); }},
          {"launch gap", &speeds.launch_s, [&] { return probes.launch_s(); }},
          {"second cache", &speeds.l2_bytes_per_s, [&] { return probes.second_cache_bytes_per_s(); }},
          {"bandwidth of one thread", &speeds.sm_bytes_per_s, [&] { return probes.thread_bytes_per_s(); }},
          {"memory latency", &speeds.memory_latency_s, [&] { return probes.latency_s(); }},
          {"copy bandwidth", &speeds.copy_bytes_per_s, [&] { return probes.copy_bytes_per_s(); }},
      },
      options);
  if (!measured) return measured.error();
  if (multiply_adds > 0) speeds.alu_per_cycle_sm = multiply_adds / speeds.clock_hz / profile.cpu.threads;
  speeds.graph_launch_s = speeds.barrier_s = speeds.launch_s;
  return profile;
}

}  // namespace rondo::tuner
