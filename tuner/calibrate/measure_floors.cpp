#include "tuner/calibrate/measure_floors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "tuner/calibrate/floor_probes.h"
#include "tuner/calibrate/probe_runner.h"

namespace rondo::tuner {

using target::MeasuredFloor;
using Of = target::MeasuredFloor::Of;

namespace {

constexpr int kVector = kExchangeVector;
constexpr int kThreads = kExchangeThreads;  // of a block
constexpr int kExchanges = 264, kWarm = 8;  // of a launch; those that are not counted: kWarmUp in the text
constexpr int kRounds = 2048;               // of what waits within a block
constexpr int kRoundsOfProducts = 1024;
constexpr std::array kBytes = {1024, 4096, 12288, 32768};  // of a vector of a head, 64 x 8 to 1024 x 16
constexpr std::array kTeams = {8, 16, 32, 48, 64, 96, 128};
constexpr std::array kClusters = {2, 4, 8, 16};

class FloorProbes {
 public:
  FloorProbes(ProbeRunner runner, const engine::Machine& machine, const target::Speeds& speeds)
      : runner_(std::move(runner)),
        machine_(machine),
        clock_hz_(speeds.clock_hz),
        barrier_s_(speeds.barrier_s) {}

  Status waits_in_a_block();
  Status exchanges_in_grid();
  Status exchanges_in_cluster();
  Status products();
  Status functions();
  target::Floors take() { return std::move(floors_); }

 private:
  // Seconds of one of `count` whose cycles a probe gives.
  auto seconds_of(double count) const {
    return [count, clock = clock_hz_](const ProbeRunner::Figures& out) {
      return static_cast<double>(out[0]) / count / clock;
    };
  }
  // Keeps what was measured; what measured next to nothing is no floor.
  Status add(MeasuredFloor floor, const Result<double>& seconds) {
    if (!seconds) return seconds.error();
    floor.seconds = *seconds;
    if (floor.seconds > 1e-10) floors_.all.push_back(std::move(floor));
    return success();
  }
  // An exchange's without its barrier, at whose end it stands.
  Result<double> without_barrier(Result<double> seconds) const {
    if (seconds) *seconds = std::max(*seconds - barrier_s_, 0.5 * *seconds);
    return seconds;
  }
  Status exchange_in_grid(runtime::DeviceBuffer& slots, const GridExchangeProbe& probe);
  Status exchange_in_cluster(const runtime::Function& function, int blocks, int part);
  Status product(const ProductProbe& probe);

  ProbeRunner runner_;
  const engine::Machine& machine_;
  double clock_hz_, barrier_s_;
  target::Floors floors_;
};

// Vectors that each block sends, so that all together receive about so many bytes.
int part_of(int bytes, int blocks) { return std::max(1, bytes / kVector / blocks); }

Status FloorProbes::waits_in_a_block() {
  floors_.all.push_back({Of::Barrier, "", 1, 0, barrier_s_, 0});
  struct Row {
    Of of;
    const char* name;
    unsigned threads;
  };
  for (const Row& row :
       {Row{Of::NamedBarrier, "named_barriers", kThreads}, Row{Of::BlockExchange, "block_exchange", kThreads},
        Row{Of::LaneSum, "lane_sums", 32}, Row{Of::SharedLoad, "shared_loads", 32}})
    if (Status status =
            add({row.of, "", 1, 0, 0, 0},
                runner_.repeat(row.name, 1, row.threads, seconds_of(kRounds), runner_.out(), kRounds));
        !status)
      return status;
  return success();
}

// A cooperative launch: the driver refuses it unless all blocks are resident at once.
Status FloorProbes::exchange_in_grid(runtime::DeviceBuffer& slots, const GridExchangeProbe& probe) {
  const Result<runtime::Function> function = runner_.function(fmt::format("grid_exchange_{}", probe.loads));
  if (!function) return function.error();
  runtime::LaunchShape shape;
  shape.grid.x = static_cast<unsigned>(probe.blocks);
  shape.block.x = kThreads;
  shape.cooperative = true;
  const auto seconds = runner_.repeat_prepared(
      *function, shape, [&] { return slots.fill(0xff, runner_.stream()); }, seconds_of(kExchanges - kWarm),
      runner_.out(), slots.address(), probe.part, kExchanges, runner_.status());
  return add({Of::GridExchange, "", probe.blocks, probe.part * probe.blocks * kVector, 0, 0},
             without_barrier(seconds));
}

Status FloorProbes::exchanges_in_grid() {
  const runtime::DeviceInfo& info = *machine_.gpu_info;
  if (!info.cooperative) return success();
  // A block sends 16 bytes at least.
  const int most = std::max(kBytes.back(), kTeams.back() * kVector);
  Result<runtime::DeviceBuffer> slots =
      runtime::DeviceBuffer::allocate(static_cast<std::size_t>(kExchanges) * static_cast<std::size_t>(most));
  if (!slots) return slots.error();
  for (const int blocks : kTeams) {
    if (blocks > info.sm_count) break;
    int before = 0;
    for (const int bytes : kBytes) {
      const GridExchangeProbe probe = grid_exchange(blocks, bytes);
      if (probe.part == std::exchange(before, probe.part)) continue;
      if (Status status = exchange_in_grid(*slots, probe); !status) return status;
    }
  }
  return success();
}

// The GPU starts the blocks of a cluster together or not at all.
Status FloorProbes::exchange_in_cluster(const runtime::Function& function, int blocks, int part) {
  runtime::LaunchShape shape;
  shape.grid.x = shape.cluster.x = static_cast<unsigned>(blocks);
  shape.block.x = kThreads;
  shape.dynamic_shared_bytes = static_cast<std::size_t>(2 * part * blocks * kVector);
  const Result<int> fit = runtime::max_active_clusters(function, shape);
  if (!fit || *fit < 1) return success();  // a GPU may have too few SMs together
  const auto seconds = runner_.repeat_prepared(
      function, shape, [] { return success(); }, seconds_of(kExchanges - kWarm), runner_.out(), part,
      kExchanges, runner_.status());
  return add({Of::ClusterExchange, "", blocks, part * blocks * kVector, 0, 0}, without_barrier(seconds));
}

Status FloorProbes::exchanges_in_cluster() {
  const runtime::DeviceInfo& info = *machine_.gpu_info;
  if (!info.clusters) return success();
  const Result<runtime::Function> function = runner_.function("cluster_exchange");
  if (!function) return function.error();
  if (Status status = function->set_dynamic_shared(2 * static_cast<std::size_t>(kBytes.back())); !status)
    return status;
  if (machine_.profile.limits.max_cluster > 8)
    if (Status status = function->allow_large_clusters(); !status) return status;
  for (const int blocks : kClusters) {
    if (blocks > machine_.profile.limits.max_cluster) break;
    for (const int bytes : kBytes)
      if (Status status = exchange_in_cluster(*function, blocks, part_of(bytes, blocks)); !status)
        return status;
  }
  return success();
}

Status FloorProbes::product(const ProductProbe& probe) {
  const auto latency = runner_.repeat((probe.name + "_latency").c_str(), 1, probe.threads,
                                      seconds_of(kRoundsOfProducts), runner_.out(), kRoundsOfProducts);
  if (!latency) return latency.error();
  const double operations = probe.operations_of_rate * kRoundsOfProducts;
  const auto of_cycles = [&](const ProbeRunner::Figures& out) {
    return operations / std::max(1.0, static_cast<double>(out[0]));
  };
  const auto rate =
      runner_.repeat((probe.name + "_rate").c_str(), static_cast<unsigned>(machine_.gpu_info->sm_count),
                     probe.threads_of_rate, of_cycles, runner_.out(), kRoundsOfProducts);
  if (!rate) return rate.error();
  return add({Of::Product, probe.by, 1, 0, 0, *rate}, latency);
}

Status FloorProbes::products() {
  for (const ProductProbe& probe : product_probes(target::Target::gpu(machine_.gpu_info->cc())))
    if (Status status = product(probe); !status) return status;
  return success();
}

// Less the multiply-add that follows each of them.
Status FloorProbes::functions() {
  double multiply_add = 0;
  int which = 0;
  for (const FunctionProbe& probe : function_probes()) {
    const auto seconds =
        runner_.repeat("functions", 1, 1, seconds_of(kRounds), runner_.out(), which++, kRounds, 0.5f);
    if (!seconds) return seconds.error();
    if (which == 1) multiply_add = *seconds;
    const Result<double> alone = which == 1 ? *seconds : *seconds - multiply_add;
    if (Status status = add({Of::Function, probe.by, 1, 0, 0, 0}, alone); !status) return status;
  }
  return success();
}

}  // namespace

Result<target::Floors> measure_floors(const engine::Machine& machine, const target::Speeds& speeds,
                                      const std::function<void(const std::string&)>& step) {
  const auto tell = [&](const char* what) {
    if (step) step(what);
  };
  tell("compiling the probes of floors");
  Result<ProbeRunner> runner =
      ProbeRunner::make(floor_request(target::Target::gpu(machine.gpu_info->cc())), *machine.device);
  if (!runner) return runner.error();
  FloorProbes probes(std::move(runner).value(), machine, speeds);
  const std::array<std::pair<const char*, Status (FloorProbes::*)()>, 5> parts = {
      {{"waits within a block", &FloorProbes::waits_in_a_block},
       {"exchanges through global memory", &FloorProbes::exchanges_in_grid},
       {"exchanges in clusters", &FloorProbes::exchanges_in_cluster},
       {"products", &FloorProbes::products},
       {"functions", &FloorProbes::functions}}};
  for (const auto& [what, measure] : parts) {
    tell(what);
    if (Status status = (probes.*measure)(); !status) return status.error();
  }
  return probes.take();
}

}  // namespace rondo::tuner
