// The shoot strategy's cost model.
#include <algorithm>
#include <cmath>

#include "compiler/schedule/shoot/resources.h"
#include "compiler/schedule/shoot/strategy.h"
#include "compiler/target/cluster_cost.h"

namespace rondo::schedule {

namespace {

constexpr double kUnproven =
    1.01;  // streaming stores, kept inputs: after the point without, for the tuner to find
constexpr double kGridExchange = 2.5e-6;  // seconds, of a round of maps and counts through the L2 (assumed)
constexpr double kClusterExchange = 1.2e-6;  // the same in a cluster (paragru 1 x 64 and 1 x 1024 on an H200)
constexpr double kBlockExchange = 0.5e-6;    // the same in a block
// A launch for each round: 1.09 to 1.35 times as long as one launch of all (h200-shoot-kept.json), of which
// its launches explain the larger part.
constexpr double kByLaunch = 1.09;
constexpr double kMapsTogether = 8;  // that a thread loads side by side

constexpr double kAffineSweeps = 1.3;  // after a warm-up, of 1 or 2 (assumed)
// The rings of all warps, as a part of the L2, beyond which they are in each other's way: paragru 1 x 1024, T
// of 32768 to 1M, on an H200 copies the slower the more warps there are, 896 to 2048 of them
// (h200-shoot-map.json).
constexpr double kRingsOfL2 = 0.2;

// A shoot problem priced for one GPU; it outlives what it was made from.
struct Model {
  step::Sizes sizes;
  ShootShape shape;
  target::Profile profile;
  ShootTraffic traffic;
  StepCost plain, newton;
  bool affine = false, accurate = false;

  // Sweeps of a segment on average, for a cell that forgets within some tens of steps: one and a check after
  // a warm-up, one or two corrections more without. What the user's cell needs only measuring tells. Of an
  // affine cell the second sweep is exact; a warm-up saves it where the cell forgets, and tells nothing where
  // it remembers long.
  double sweeps(const ShootParameters& p) const {
    if (p.all_segments() == 1) return 1;
    if (affine) return !p.newton ? p.all_segments() : p.warmup > 0 ? kAffineSweeps : 2;
    const double unwarmed = accurate ? 3 : 2;  // a tolerance of 2^-20 or 2^-14
    const double needed = p.warmup >= 64 ? 1.02 : p.warmup >= 32 ? 1.1 : p.warmup > 0 ? 1.5 : unwarmed;
    return p.sweeps == 1 && needed > 1.2 ? 8 : needed;
  }

  // With that which clears the words of the exchange.
  static int launches(const ShootParameters& p) { return p.launches() + (p.through_global() ? 1 : 0); }
  // Seconds of a round. Where it is a launch, every thread loads the maps of all segments, some at a time.
  double exchange_s(const ShootParameters& p) const {
    if (p.by_launch()) return std::ceil(p.all_segments() / kMapsTogether) * profile.speeds.memory_latency_s;
    if (!p.among_blocks()) return kBlockExchange;
    return p.through_global() ? kGridExchange : kClusterExchange;
  }

  Estimate operator()(const Parameters& parameters) const {
    const ShootParameters p = read_parameters<ShootParameters>(parameters);
    const StepCost& step = p.newton ? newton : plain;
    const double element = shape.element;
    const double length = std::ceil(static_cast<double>(sizes.time) / p.all_segments());
    const double lead = std::min<double>(p.warmup, length);
    const double swept = sweeps(p);
    const double rows = static_cast<double>(sizes.batch * sizes.heads * sizes.dim);
    const double blocks = std::ceil(static_cast<double>(sizes.dim) / p.channels) *
                          static_cast<double>(sizes.batch * sizes.heads) * p.time_split;
    const int per_sm = blocks_of_sm(shape, p, profile);
    const bool clusters = p.among_blocks() && !p.through_global();
    const double room =
        clusters ? std::max(1, target::clusters_at_once(profile.limits, p.time_split, per_sm)) * p.time_split
                 : static_cast<double>(per_sm) * profile.limits.sm_count;
    const double waves = std::ceil(blocks / room);
    // Blocks of an SM, as most have them and as the busiest has: clusters that do not all find SMs of their
    // own share some, and the kernel lasts as long as those.
    const double apart = clusters ? target::clusters_at_once(profile.limits, p.time_split, 1) * p.time_split
                                  : static_cast<double>(profile.limits.sm_count);
    const double busiest = std::min<double>(per_sm, std::ceil(blocks / apart));
    const double usual = std::min<double>(per_sm, std::ceil(blocks / profile.limits.sm_count));

    Estimate e;
    const double row_bytes = p.warp_channels() * element;
    const double ring = element * (p.stages * p.steps * traffic.read) * (p.channels * p.segments);
    const double rings = std::min(blocks, usual * profile.limits.sm_count) * ring /
                         static_cast<double>(profile.limits.l2_bytes);
    const double waste = (row_bytes < 128 ? 1.08 : 1.0) * (1 + std::max(0.0, rings - kRingsOfL2));
    const double read = p.keeps_on_chip() ? 1 : swept;
    const double moved = traffic.read * (read + 0.5 * lead / length) + traffic.written * swept;
    const double bytes = rows * static_cast<double>(sizes.time) * moved * element * waste;
    const double rate =
        std::min(profile.speeds.sm_bytes_per_s, usual * ring * (p.stages - 1) / p.stages /
                                                    profile.speeds.loaded_latency_s() *
                                                    (traffic.read + traffic.written) / traffic.read);
    const double used = std::min<double>(blocks, profile.limits.sm_count);
    e.memory = std::max(bytes / profile.speeds.copy_bytes_per_s, bytes / (rate * used));
    const double walked = length * swept + lead;
    const double loop = 16.0 / p.unroll;
    e.chain = waves * walked * (step.chain + loop) / profile.speeds.clock_hz;
    const double overhead =
        2.0 * (traffic.read + traffic.written) + 8.0 / p.per_thread + 2.0 * traffic.read / p.vector;
    const double slots = p.per_thread * (step.alu + step.special + overhead);
    const double special = p.per_thread * step.special * 128 / profile.speeds.special_per_cycle_sm;
    const double warps = std::ceil(p.threads() / 32.0) * busiest;
    e.issue = waves * walked * std::ceil(warps / 4) * std::max(slots, special) / profile.speeds.clock_hz;
    e.launch = profile.speeds.launch_s * launches(p) + waves * profile.speeds.memory_latency_s * (1 + swept) +
               waves * (1 + swept) * exchange_s(p);
    const double sum = e.memory + e.issue + e.chain;
    const double top = std::max({e.memory, e.issue, e.chain});
    e.seconds = top + 0.15 * (sum - top) + e.launch;
    e.may_spill = may_spill(shape, p);
    if (p.stream_stores) e.seconds *= kUnproven;
    if (p.by_launch()) e.seconds *= kByLaunch;
    if (p.keep_inputs != KeptInputs::Memory) e.seconds *= kUnproven;
    // One segment walks as stream does, which has more to choose from.
    if (p.all_segments() == 1) e.seconds *= 2;
    return e;
  }
};

}  // namespace

CostModel Shoot::cost_model(const Task& task) const {
  return Model{task.problem.sizes,    shoot_shape(task),       task.profile,
               shoot_traffic(task),   shoot_cost(task, false), shoot_cost(task, true),
               task.structure.affine, shoot_is_accurate(task)};
}

}  // namespace rondo::schedule
