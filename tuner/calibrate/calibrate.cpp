#include "tuner/calibrate/calibrate.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "compiler/backend/backends.h"
#include "engine/machine/device_profile.h"
#include "engine/measure/copies.h"
#include "engine/measure/measure.h"
#include "runtime/cuda/driver_graph.h"
#include "runtime/device/gpu_device.h"
#include "tuner/calibrate/measure_floors.h"
#include "tuner/calibrate/probe_runner.h"

namespace rondo::tuner {

using runtime::DeviceBuffer;
using runtime::Function;
using runtime::LaunchShape;
using runtime::StreamHandle;

namespace {

// Each kernel measures one thing; cycles come back through `out`.
constexpr const char* kProbes = R"cuda(
typedef unsigned long long u64;

extern "C" __global__ void empty_kernel() {}

// Cycles and nanoseconds of a long chain of multiply-adds on every SM: the clock under load.
extern "C" __global__ void clock_probe(u64* out, int rounds, float seed) {
  u64 ns0, ns1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns0));
  const u64 c0 = clock64();
  float a = seed + threadIdx.x, b = a * 0.5f, c = a * 0.25f, d = a * 0.125f;
  for (int i = 0; i < rounds; ++i) {
    a = a * 0.999f + b; b = b * 0.998f + c; c = c * 0.997f + d; d = d * 0.996f + a;
  }
  const u64 c1 = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns1));
  if (blockIdx.x == 0 && threadIdx.x == 0) { out[0] = c1 - c0; out[1] = ns1 - ns0; }
  if (a + b + c + d == 12345.678f) out[2] = 1;  // never: keeps the chain
}

// Cycles of `rounds` barriers of a block.
extern "C" __global__ void barrier_probe(u64* out, int rounds) {
  __syncthreads();
  const u64 c0 = clock64();
  for (int i = 0; i < rounds; ++i) __syncthreads();
  const u64 c1 = clock64();
  if (threadIdx.x == 0) out[blockIdx.x] = c1 - c0;
}

// next[i] = (i + stride) mod count: a chain that no prefetcher and no cache line shortens.
extern "C" __global__ void chase_fill(u64* next, u64 count, u64 stride) {
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x)
    next[i] = (i + stride) % count;
}

// Block 0 chases pointers while all others stream: latency under load. Cycles of the chase in out[0].
extern "C" __global__ void latency_probe(u64* out, const u64* next, const float4* data, float4* sink, u64 count, int hops) {
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    u64 at = 0;
    const u64 c0 = clock64();
    for (int i = 0; i < hops; ++i) at = __ldcg(next + at);
    const u64 c1 = clock64();
    out[0] = c1 - c0;
    out[1] = at;
    return;
  }
  const u64 threads = (u64)(gridDim.x - 1) * blockDim.x;
  for (u64 i = (u64)(blockIdx.x - 1) * blockDim.x + threadIdx.x; i < count; i += threads) __stcs(sink + i, __ldcs(data + i));
}

// Copies with as many blocks as the grid has: with one block, what one SM moves.
extern "C" __global__ void copy_probe(const float4* from, float4* to, u64 count) {
  const u64 threads = (u64)gridDim.x * blockDim.x;
  u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
  for (; i + 3 * threads < count; i += 4 * threads) {
    const float4 a = __ldcs(from + i), b = __ldcs(from + i + threads);
    const float4 c = __ldcs(from + i + 2 * threads), d = __ldcs(from + i + 3 * threads);
    __stcs(to + i, a); __stcs(to + i + threads, b); __stcs(to + i + 2 * threads, c); __stcs(to + i + 3 * threads, d);
  }
  for (; i < count; i += threads) __stcs(to + i, __ldcs(from + i));
}

// Every SM reads the same few megabytes again and again, each thread another part in each round.
extern "C" __global__ void l2_probe(u64* out, const float4* data, u64 count, int rounds) {
  const u64 threads = (u64)gridDim.x * blockDim.x;
  const u64 mine = blockIdx.x * (u64)blockDim.x + threadIdx.x;
  const u64 end = count - 3 * threads;
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const u64 shift = round * 4099 * 32ull % end;
    for (u64 i = mine; i < end; i += 4 * threads) {
      const u64 at = i + shift < end ? i + shift : i + shift - end;
      const float4 a = __ldcg(data + at), b = __ldcg(data + at + threads);
      const float4 c = __ldcg(data + at + 2 * threads), d = __ldcg(data + at + 3 * threads);
      sum += a.x + b.y + c.z + d.w;
    }
  }
  if (sum == 12345.678f) out[2] = 1;  // never: keeps the loads
}
)cuda";

constexpr std::size_t kBuffer = std::size_t{1} << 29;  // bytes of each of two work buffers: beyond any L2
constexpr std::size_t kChase = std::size_t{1} << 28;   // bytes of the pointer chain
constexpr int kRepeats = ProbeRunner::kRepeats;

class Probes {
 public:
  static Result<Probes> make(const engine::Machine& machine);

  Result<double> clock_hz();
  Result<double> barrier_s(double clock_hz);
  Result<double> latency_s(double clock_hz);
  Result<double> launch_s();
  Result<double> graph_launch_s();
  Result<double> l2_bytes_per_s();
  Result<double> sm_bytes_per_s();
  Result<double> copy_bytes_per_s();

 private:
  Probes(const runtime::DeviceInfo& info, ProbeRunner runner, const runtime::Device& device)
      : info_(info), runner_(std::move(runner)), stream_(runner_.stream()), timer_(device) {}

  runtime::DeviceInfo info_;
  ProbeRunner runner_;
  StreamHandle stream_;
  engine::Timer timer_;
  DeviceBuffer from_, to_;
};

Result<Probes> Probes::make(const engine::Machine& machine) {
  const runtime::DeviceInfo& info = *machine.gpu_info;
  Result<ProbeRunner> runner =
      ProbeRunner::make(calibration_request(target::Target::gpu(info.cc())), *machine.device);
  if (!runner) return runner.error();
  Probes probes(info, std::move(runner).value(), *machine.device);
  const std::array<std::pair<DeviceBuffer*, std::size_t>, 2> buffers = {
      {{&probes.from_, kBuffer}, {&probes.to_, kBuffer}}};
  for (const auto& [buffer, bytes] : buffers) {
    Result<DeviceBuffer> made = DeviceBuffer::allocate(bytes);
    if (!made) return made.error();
    *buffer = std::move(made).value();
    if (Status status = buffer->fill(0, probes.stream_); !status) return status.error();
  }
  return probes;
}

Result<double> Probes::clock_hz() {
  auto read = [](const std::array<std::uint64_t, 2>& out) {
    return out[1] == 0 ? 0.0 : static_cast<double>(out[0]) / static_cast<double>(out[1]) * 1e9;
  };
  // Some 10 ms: globaltimer may tick in microseconds only.
  return runner_.repeat("clock_probe", static_cast<unsigned>(info_.sm_count * 4), 256, read, runner_.out(),
                        400000, 1.0f);
}

Result<double> Probes::barrier_s(double clock) {
  constexpr int kRounds = 2000;
  auto read = [&](const std::array<std::uint64_t, 2>& out) {
    return static_cast<double>(out[0]) / kRounds / clock;
  };
  return runner_.repeat("barrier_probe", static_cast<unsigned>(info_.sm_count), 256, read, runner_.out(),
                        kRounds);
}

Result<double> Probes::latency_s(double clock) {
  constexpr int kHops = 400;
  const std::uint64_t links = kChase / sizeof(std::uint64_t);
  constexpr std::uint64_t kStride = 1'048'583;  // a prime: hops of 8 MB, each in a page of its own
  Result<DeviceBuffer> chain = DeviceBuffer::allocate(kChase);
  if (!chain) return chain.error();
  auto nothing = [](const std::array<std::uint64_t, 2>&) { return 0.0; };
  const Result<double> filled =
      runner_.repeat("chase_fill", 1024, 256, nothing, chain->address(), links, kStride);
  if (!filled) return filled.error();
  auto read = [&](const std::array<std::uint64_t, 2>& out) {
    return static_cast<double>(out[0]) / kHops / clock;
  };
  const std::uint64_t count = kBuffer / 16;
  return runner_.repeat("latency_probe", static_cast<unsigned>(info_.sm_count * 4 + 1), 256, read,
                        runner_.out(), chain->address(), from_.address(), to_.address(), count, kHops);
}

Result<double> Probes::launch_s() {
  const Result<Function> function = runner_.function("empty_kernel");
  if (!function) return function.error();
  engine::TimingPlan plan;
  plan.samples = kRepeats;
  plan.sample_s = 1;  // as many as allowed
  plan.most_repetitions = 1000;
  const LaunchShape shape;
  const auto seconds =
      timer_.time([&](int) { return runtime::launch_values(*function, shape, stream_); }, plan);
  if (!seconds) return seconds.error();
  return engine::median(*seconds);
}

// A graph of kernels that each wait for the one before.
Result<double> Probes::graph_launch_s() {
  constexpr int kKernels = 500;
  const Result<Function> function = runner_.function("empty_kernel");
  if (!function) return function.error();
  const LaunchShape shape;
  const Result<runtime::Graph> graph = runtime::Graph::capture(stream_, [&](StreamHandle stream) -> Status {
    for (int i = 0; i < kKernels; ++i)
      if (Status status = runtime::launch_values(*function, shape, stream); !status) return status;
    return success();
  });
  if (!graph) return graph.error();
  engine::TimingPlan plan;
  plan.samples = kRepeats;
  const auto seconds = timer_.time([&](int) { return graph->launch(stream_); }, plan);
  if (!seconds) return seconds.error();
  return engine::median(*seconds) / kKernels;
}

Result<double> Probes::l2_bytes_per_s() {
  constexpr int kRounds = 16, kThreads = 512;
  constexpr std::int64_t kMost = std::int64_t{24} << 20;
  const Result<Function> function = runner_.function("l2_probe");
  if (!function) return function.error();
  LaunchShape shape;
  shape.grid.x = static_cast<unsigned>(info_.sm_count * 2);
  shape.block.x = kThreads;
  // A whole number of turns of all threads, in half of the L2 at most.
  const std::int64_t turn = std::int64_t{16} * 4 * kThreads * shape.grid.x;
  const std::int64_t half = info_.l2_bytes > 0 ? static_cast<std::int64_t>(info_.l2_bytes) / 2 : kMost;
  const std::int64_t turns = std::max<std::int64_t>(2, std::min(kMost, half) / turn);
  const auto count = static_cast<std::uint64_t>(turns * turn / 16);
  engine::TimingPlan plan;
  plan.samples = kRepeats;
  const auto seconds = timer_.time(
      [&](int) {
        return runtime::launch_values(*function, shape, stream_, runner_.out(), from_.address(), count,
                                      kRounds);
      },
      plan);
  if (!seconds) return seconds.error();
  return static_cast<double>(kRounds * turns * turn) / std::max(1e-9, engine::median(*seconds));
}

Result<double> Probes::sm_bytes_per_s() {
  const Result<Function> function = runner_.function("copy_probe");
  if (!function) return function.error();
  constexpr std::uint64_t kCount = std::uint64_t{1} << 20;  // 16 MiB: some 0.3 ms of one SM
  LaunchShape shape;
  shape.block.x = 1024;
  engine::TimingPlan plan;
  plan.sample_s = 1e-3;
  const auto seconds = timer_.time(
      [&](int) {
        return runtime::launch_values(*function, shape, stream_, from_.address(), to_.address(), kCount);
      },
      plan);
  if (!seconds) return seconds.error();
  return 2.0 * 16 * static_cast<double>(kCount) / std::max(1e-9, engine::median(*seconds));
}

// The best of the driver's own copy and a plain kernel, at sizes beyond L2.
Result<double> Probes::copy_bytes_per_s() {
  double best = 0;
  for (const std::size_t bytes : {std::size_t{1} << 28, std::size_t{1} << 30, std::size_t{1} << 32}) {
    if (bytes > info_.memory_bytes / 8) break;
    const Result<double> bandwidth = engine::copy_bandwidth(timer_, bytes);
    if (!bandwidth) return bandwidth.error();
    best = std::max(best, *bandwidth);
  }
  return best;
}

}  // namespace

backend::Request calibration_request(const target::Target& target) {
  const backend::Backend& backend = backend::backend_for(backend::Language::CudaCxx);
  return {backend.name(), kProbes, "calibrate.cu", target, {}};
}

Result<target::Profile> calibrate_gpu(const engine::Machine& machine, const CalibrateOptions& options) {
  if (options.step) options.step("compiling the probes");
  Result<Probes> made = Probes::make(machine);
  if (!made) return made.error();
  Probes& probes = *made;
  target::Profile profile = engine::profile_of(*machine.gpu_info);
  target::Speeds& speeds = profile.speeds;
  const Status measured = run_steps(
      {
          {"clock under load", &speeds.clock_hz, [&] { return probes.clock_hz(); }},
          {"block barrier", &speeds.barrier_s, [&] { return probes.barrier_s(speeds.clock_hz); }},
          {"launch gap", &speeds.launch_s, [&] { return probes.launch_s(); }},
          {"launch gap in a graph", &speeds.graph_launch_s, [&] { return probes.graph_launch_s(); }},
          {"L2 bandwidth", &speeds.l2_bytes_per_s, [&] { return probes.l2_bytes_per_s(); }},
          {"bandwidth of one SM", &speeds.sm_bytes_per_s, [&] { return probes.sm_bytes_per_s(); }},
          {"memory latency under load", &speeds.memory_latency_s,
           [&] { return probes.latency_s(speeds.clock_hz); }},
          {"copy bandwidth", &speeds.copy_bytes_per_s, [&] { return probes.copy_bytes_per_s(); }},
      },
      options);
  if (!measured) return measured.error();
  Result<target::Floors> floors = measure_floors(machine, speeds, options.step);
  if (!floors) return floors.error();
  profile.floors = std::move(floors).value();
  return profile;
}

Status run_steps(const std::vector<CalibrateStep>& steps, const CalibrateOptions& options) {
  for (const CalibrateStep& step : steps) {
    if (options.step) options.step(step.what);
    const Result<double> measured = step.measure();
    if (!measured) return measured.error();
    if (*measured > 0) *step.speed = *measured;
  }
  return success();
}

Result<target::Profile> calibrate(const engine::Machine& machine, const CalibrateOptions& options) {
  if (Status status = machine.need_device(); !status) return status.error();
  if (Status status = machine.device->make_current(); !status) return status.error();
  Result<target::Profile> profile =
      machine.gpu_info ? calibrate_gpu(machine, options) : calibrate_cpus(machine, options);
  if (!profile) return profile;
  profile->origin = "measured";
  const std::string driver =
      machine.gpu_info ? fmt::format("driver {}, ", engine::driver_version(*machine.gpu_info)) : "";
  profile->source = fmt::format("rondo calibrate, {}{:%Y-%m-%d}", driver, fmt::gmtime(std::time(nullptr)));
  return profile;
}

}  // namespace rondo::tuner
