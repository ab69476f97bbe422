// The shoot strategy's tuning space.

#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/schedule/channelwise/affine_transforms.h"
#include "compiler/schedule/channelwise/scan_warp.h"
#include "compiler/schedule/plan/space_variables.h"
#include "compiler/schedule/rewrite/fold_parameters.h"
#include "compiler/schedule/shoot/resources.h"
#include "compiler/schedule/shoot/strategy.h"
#include "compiler/schedule/shoot/sweep.h"
#include "compiler/support/integers.h"
#include "compiler/target/cluster_cost.h"

namespace rondo::schedule {

namespace {

using namespace constraint;

constexpr int kLeastSegment = 16;     // steps of a segment that is worth a guess
constexpr int kShortSegment = 256;    // steps below which threads are scarcer than bandwidth
constexpr std::int64_t kTimesL2 = 4;  // bytes moved, by the size of the L2, beyond which streaming may pay
// A run that converges nowhere sweeps so often in vain before it walks in order. A sweep takes as long as
// that walk by so many segments, or, where memory or instructions bound it, some third of it.
constexpr int kPartsOfSweep = 8;
constexpr int kMostTurns = 2;        // of all threads of the GPU
constexpr int kAccurateWarmup = 64;  // steps
// Of stream's time, what a sweep may take that memory bounds. On an H200 and an H100 a run that converges
// nowhere took as long as its sweep and then, of stream's time, 0.8 in fp32, 0.6 to 0.7 in 16 bits, and 0.96
// with two channels a thread (8 x 1024, four segments, T of 512 to 8192, weights of 5). The bound is 1.5.
constexpr double kSweepFp32 = 0.6, kSweep16Bits = 0.7, kSweepTwoChannels = 0.5;

// And that its launches may take, where each round is one, of the time of all steps one after the other.
constexpr double kLaunchesOfWalk = 0.1;

// What the walk in order takes beside its steps: the way from one segment to the next, which is longer where
// a block has many, a round for each block that takes its turn, and the sweeps beside it, one in each block's
// turn by the segments that still wait, half of all on average. Fitted on an H200: where all this is
// the part F of stream's time, a run with weights of 5 takes some 1.12 + F of it, so F is at most 0.35. As
// parts of the walk by the model, which has 0.85 of stream's time in 16 bits and 1.05 in fp32. What comes of
// it is in h200-shoot-map.json and h200-shoot-kept.json.
constexpr double kBeside16Bits = 0.4, kBesideFp32 = 0.34;
constexpr double kTurn = 0.5e-6, kTurnOfMany = 0.9e-6, kTurnOfBlock = 1.2e-6;  // seconds
constexpr int kFewSegments = 4;

class Space {
 public:
  Space(const Task& task)
      : task_(task),
        limits_(task.profile.limits),
        shape_(shoot_shape(task)),
        affine_(task.structure.affine),
        steps_of_latency_(steps_of_latency(task.profile.speeds)),
        sweep_share_(sweep_share(task.profile.speeds)),
        walk_s_(walk_seconds(task.profile.speeds)),
        launches_(launches_of_walk(task.profile.speeds)) {}

  System build() {
    require_time();
    require_worst_case();
    require_copies();
    require_kept();
    require_shared(require_threads());
    return std::move(s_);
  }

 private:
  int states() const { return static_cast<int>(task_.cell.next.size()); }
  Rewrite most_rewrite() const {
    if (task_.problem.math != kernel::Math::Fast) return Rewrite::None;
    const int folded =
        instructions_folded(task_, "the step with its Jacobian", [&] { return shoot_step(task_, true); });
    return folded > 0 ? Rewrite::Throughput : Rewrite::Latency;
  }
  std::int64_t element() const { return kernel::storage_bytes(task_.problem.storage); }
  // Steps of the chain that a load from memory takes, with half as many to spare; a ring of more than 32 is
  // not among the values.
  int steps_of_latency(const target::Speeds& speeds) const {
    return static_cast<int>(std::clamp(1.5 * speeds.loaded_latency_s() / step_seconds(speeds), 8.0, 32.0));
  }
  // Of a walk's dependent chain.
  double step_seconds(const target::Speeds& speeds) const {
    return shoot_cost(task_, false).chain / speeds.clock_hz;
  }
  // Of all steps one after the other.
  double walk_seconds(const target::Speeds& speeds) const {
    return static_cast<double>(std::max<std::int64_t>(task_.problem.sizes.time, 1)) * step_seconds(speeds);
  }
  // What a sweep takes of a walk in order, if it copies as fast as the GPU can.
  double sweep_share(const target::Speeds& speeds) const {
    const ShootTraffic traffic = shoot_traffic(task_);
    const double bytes =
        static_cast<double>(task_.problem.sizes.batch * task_.problem.sizes.heads * task_.problem.sizes.dim) *
        (traffic.read + traffic.written) * static_cast<double>(element());
    return bytes / speeds.copy_bytes_per_s / step_seconds(speeds);
  }
  // How many launches a run may have.
  int launches_of_walk(const target::Speeds& speeds) const {
    return static_cast<int>(std::clamp(kLaunchesOfWalk * walk_s_ / speeds.launch_s, 0.0, 1e6));
  }
  bool fills_l2() const { return 2 * compulsory_bytes(task_) > limits_.l2_bytes; }
  bool passes_l2() const { return compulsory_bytes(task_) > kTimesL2 * limits_.l2_bytes; }
  void require_time();
  void require_worst_case();
  void require_few_turns();
  void require_copies();
  void require_kept();
  Expr require_threads();
  void require_shared(const Expr& registers);
  void require_resident(const Expr& bytes, const Expr& registers);

  const Task& task_;
  const target::Limits& limits_;
  const ShootShape shape_;
  const bool affine_;
  const int steps_of_latency_;
  const double sweep_share_;
  const double walk_s_;
  const int launches_;
  System s_;

  using P = ShootParameters;
  const Var channels = variable<P, &P::channels>(s_);
  const Var per_thread = variable<P, &P::per_thread>(s_);
  const Var segments = variable<P, &P::segments>(s_);
  const Var time_split = variable<P, &P::time_split>(s_);
  const ChoiceVar<Exchange> exchange = variable<P, &P::exchange>(s_);
  const Var steps = variable<P, &P::steps>(s_);
  const Var stages = variable<P, &P::stages>(s_);
  const Var unroll = variable<P, &P::unroll>(s_);
  const Var vector = variable<P, &P::vector>(s_);
  const Var warmup = variable<P, &P::warmup>(s_);
  const Var newton = variable<P, &P::newton>(s_);
  const Var sweeps = variable<P, &P::sweeps>(s_, range(1, 3));
  const ChoiceVar<Rewrite> rewrite = variable<P, &P::rewrite>(s_, up_to(most_rewrite()));
  const ChoiceVar<KeptInputs> keep_inputs = variable<P, &P::keep_inputs>(s_);
  const Var stream_stores = variable<P, &P::stream_stores>(s_, if_so(fills_l2()));
  const Expr parts = segments * time_split;
  const Condition among =
      time_split > 1 && exchange != Exchange::Launch;  // blocks that exchange while they run
};

void Space::require_time() {
  s_.require(parts * kLeastSegment <=
                 static_cast<int>(std::max<std::int64_t>(task_.problem.sizes.time, kLeastSegment)),
             "segments long enough for a guess");
  s_.require(warmup * parts <= static_cast<int>(std::max<std::int64_t>(task_.problem.sizes.time, 1)),
             "a warm-up no longer than a segment");
  s_.require(mod(warmup, steps) == 0, "a warm-up of whole stages");
  s_.require(implies(parts == 1, warmup == 0 && newton == 0 && sweeps == 1), "one segment needs no guess");
  if (shape_.pattern.coefficients() > kShootMostJacobian)
    s_.require(newton == 0, "a Jacobian that stays in registers");
  // Without a correction a guess must be good; with one, a chance to use it. A search's data do not tell how
  // good: accurate arithmetic asks for 2^-20, and where a gate keeps 0.65 of a state 32 steps leave as much.
  // ParaLSTM 8 x 1024, T=2048, fp32, took 0.130 ms with 32 steps, as one warp of 1024 swept again, and 0.081
  // with 64.
  s_.require(implies(newton == 0, warmup > 0 || parts == 1), "ends alone correct nothing at once");
  if (shoot_is_accurate(task_))
    s_.require(implies(newton == 0 && parts > 1, warmup >= kAccurateWarmup), "a guess to the last bits");
  // An affine cell may remember for ever, and a walk in order takes many times as long as stream's segments.
  if (affine_)
    s_.require(implies(parts > 1, newton == 1), "Jacobians, which make an affine cell's second sweep exact");
  // What a run that converges nowhere may waste is bounded, not tuned: the test data always converge.
  s_.require(implies(parts > 1, sweeps == 1 + when(parts >= 3 * kPartsOfSweep, 1, 0) +
                                              when(newton == 1 && parts >= kPartsOfSweep / 2, 1, 0)),
             "sweeps by the number of segments");
  s_.require(implies(newton == 1, parts >= 2 * kPartsOfSweep), "a worst case near that of stream");
  s_.require((stages - 1) * steps >= steps_of_latency_, "a walk in order that does not wait for memory");
  // The walk in order, ParaLSTM 8 x 1024, T=2048, weights of 5, over stream's on an H200: in fp32 1.66 with
  // stages of 8 steps in groups of 4, 1.42 with 16 in groups of 8; in bf16 1.53 with 16 steps, 1.36 with 32;
  // 1.9 with two channels a thread in a cluster, where one warp walks while the others wait.
  s_.require(implies(parts > 1, steps >= (element() == 2 ? 32 : 16) && unroll * per_thread == 8),
             "a walk in order with little beside its steps");
  s_.require(implies(time_split > 1, per_thread == 1), "a walk in order with little beside its steps");
  // Short segments leave little to overlap: ParaGRU 8 x 1024, T=512, bf16 takes 18.3 us on an H200 with two
  // channels a thread and 16.6 with one; with weights of 5, 1.58 and 1.30 times what stream takes. With 512
  // steps a segment (T=2048) two are 5% faster, and no length between 128 and 512 was measured.
  const auto time = static_cast<int>(std::min<std::int64_t>(task_.problem.sizes.time, 1 << 20));
  s_.require(implies(parts > 1 && parts * kShortSegment > time, per_thread == 1),
             "threads for short segments");
  s_.require(implies(time_split > 1, segments > 1), "blocks split time in segments");
  s_.require(implies(time_split == 1, exchange != Exchange::Global), "an exchange is among blocks");
  s_.require(implies(parts == 1, exchange == Exchange::Cluster), "rounds are among segments");
  s_.require(implies(exchange == Exchange::Cluster, time_split <= target::largest_cluster(limits_)),
             "thread blocks of a cluster (sm_90 and later)");
}

// A guess costs its warm-up besides, and Newton's method all its sweeps.
void Space::require_worst_case() {
  const auto time = static_cast<double>(std::max<std::int64_t>(task_.problem.sizes.time, 1));
  const auto bounded = [&](int channels_of_thread, double share) {
    const Condition these = parts > 1 && per_thread == channels_of_thread;
    const double sweeps_paid = std::min(share / sweep_share_, 1e3);
    s_.require(implies(these && newton == 0,
                       warmup * parts <= static_cast<int>(std::clamp(time * (sweeps_paid - 1), -1.0, 1e9))),
               "a worst case near that of stream");
    if (!affine_)
      s_.require(implies(these && newton == 1, sweeps <= static_cast<int>(sweeps_paid)),
                 "a worst case near that of stream");
  };
  s_.require(
      implies(exchange == Exchange::Launch,
              sweeps + when(newton == 1, ShootParameters::kMoreSweeps, 0) + time_split + 1 <= launches_),
      "launches that a walk in order is long beside");
  bounded(1, element() == 4 ? kSweepFp32 : kSweep16Bits);
  bounded(2, kSweepTwoChannels);
  if (!affine_) require_few_turns();
}

void Space::require_few_turns() {
  const auto ns = [](double seconds) { return static_cast<int>(std::clamp(1e9 * seconds, 0.0, 1e9)); };
  const Expr of_segments = parts * when(segments > kFewSegments, ns(kTurnOfMany), ns(kTurn));
  const Expr of_blocks =
      time_split * (when(time_split > 1, ns(kTurnOfBlock), 0) + ns(sweep_share_ * walk_s_ / 2));
  s_.require(implies(parts > 1,
                     of_segments + of_blocks <= ns((element() == 4 ? kBesideFp32 : kBeside16Bits) * walk_s_)),
             "turns that a walk in order is long beside");
}

void Space::require_copies() {
  const std::int64_t dim = task_.problem.sizes.dim;
  s_.require(divides(vector, dim), "alignment of rows: a copy may not straddle two rows of D channels");
  s_.require(vector * element() <= 16, "a copy moves at most 16 bytes");
  // Narrower copies than D allows are for tensors that are not aligned to more; one shape of ring serves
  // them.
  std::int64_t widest = 16 / element();
  while (dim % widest != 0) widest /= 2;
  s_.require(implies(vector < widest, steps == 32 && stages == 2 && unroll == 8 && time_split == 1),
             "narrow copies");
  s_.require(per_thread <= vector, "alignment of stores");
  // Rows of 32 channels fill 128 bytes in fp32; two channels only make a walk in order longer.
  if (element() == 4) s_.require(per_thread == 1, "whole lines of memory");
  s_.require(unroll <= steps, "unrolling");
}

void Space::require_kept() {
  const auto time = static_cast<int>(std::clamp<std::int64_t>(task_.problem.sizes.time, 1, 1 << 20));
  const Expr segment = ceil_div(time, parts);
  s_.require(implies(parts == 1, keep_inputs == KeptInputs::Memory), "one segment sweeps once");
  s_.require(implies(exchange == Exchange::Launch, keep_inputs == KeptInputs::Memory),
             "what is on the chip ends with a launch");
  s_.require(implies(keep_inputs != KeptInputs::Shared, stages <= 4), "a ring no longer than loads need");
  s_.require(implies(keep_inputs == KeptInputs::Shared,
                     ceil_div(segment, steps) + floor_div(warmup, steps) <= stages),
             "a ring that holds the segment");
  s_.require(implies(keep_inputs == KeptInputs::Registers, segment <= steps),
             "registers that hold the segment");
  // A further sweep finds its inputs in the L2 if what is written does not drive them out of it.
  if (!passes_l2()) s_.require(implies(parts == 1, stream_stores == 0), "results that pass the L2");
}

// Registers a thread, estimated.
Expr Space::require_threads() {
  const Expr computing = floor_div(channels, per_thread) * segments;
  const Expr threads = s_.define("threads", computing + when(among, 32, 0), "threads a block");
  s_.require(mod(floor_div(channels, per_thread), 32) == 0, "whole warps of channels");
  // Segments are for what the channels alone do not fill.
  const std::int64_t rows = task_.problem.sizes.batch * task_.problem.sizes.heads * task_.problem.sizes.dim;
  const std::int64_t most = std::int64_t{kMostTurns} * limits_.sm_count * limits_.threads_per_sm;
  s_.require(parts <= static_cast<int>(std::clamp<std::int64_t>(most / rows, 4, 4096)),
             "segments that the GPU has threads for");
  s_.require(unroll * per_thread <= 8 && (keep_inputs == KeptInputs::Shared || stages * steps <= 96),
             "rings and groups that pay");
  s_.require(threads <= limits_.threads_per_block, "threads a block");
  s_.require(
      channels <= (task_.problem.sizes.dim + 31) / 32 * 32 || channels == 32 || channels == 32 * per_thread,
      "channels the head has");
  const auto estimate = [&](int each_thread, int unrolled, bool newtons) {
    return shoot_registers(shape_, each_thread, unrolled, newtons, 0);
  };
  const auto of = [&](bool newtons) {
    const int fixed = estimate(0, 0, newtons), each = estimate(1, 0, newtons) - fixed;
    const int step = estimate(1, 1, newtons) - fixed - each;
    return fixed + per_thread * (each + unroll * step);
  };
  const Expr own = when(newton == 1, of(true), of(false)) +
                   when(keep_inputs == KeptInputs::Registers, per_thread * steps * shape_.inputs, 0);
  const int team = team_registers(task_.profile.target);
  const Expr registers =
      s_.define("registers", when(among && own < team, team, own), "registers a thread, estimated");
  const Expr counted = ceil_div(threads, 128) * 128;
  s_.require(registers <= limits_.registers_per_thread, "registers a thread");
  s_.require(registers * counted <= limits_.registers_per_sm, "registers a block");
  // Through global memory a lane of the scan warp has the words of all blocks at once (ScanLanes).
  const int remembered = shoot_remembers(shape_, true) ? 2 * RememberedRounding::entries(states()) : 0;
  const Expr words = time_split * ceil_div(channels, 64) * (2 * shape_.pattern.entries()) +
                     when(newton == 1, 2 * ceil_div(channels, 64) * remembered, 0);
  s_.require(implies(exchange == Exchange::Global,
                     (words + kScanWarpRegisters) * counted <= limits_.registers_per_sm),
             "registers of the scan warp");
  return registers;
}

void Space::require_shared(const Expr& registers) {
  const std::int64_t read = shoot_traffic(task_).read * element();
  const Expr bytes = s_.define(
      "shared_bytes",
      channels * (segments * (stages * steps * read + shoot_map_bytes(shape_.pattern)) +
                  shoot_channel_bytes(states())) +
          when(among && newton == 1,
               channels * (shoot_remembers(shape_, true) ? ScanWarp::rounding_bytes(states()) : 0), 0) +
          when(time_split > 1 && exchange == Exchange::Cluster,
               time_split * (channels * shoot_team_bytes(shape_.pattern) + 2 * shoot_team_bytes(1)), 0) +
          floor_div(channels, 32 * per_thread) * segments * steps * shoot_head_value_bytes(shape_) +
          kShootFixedBytes,
      "bytes of shared memory a block");
  s_.require(bytes <= limits_.shared_per_block, "shared memory");
  require_resident(bytes, registers);
}

// Blocks that wait for each other through global memory must be resident at once. The others should be: a
// block that walks in order takes as long as all of stream, and a second wave would begin after it.
void Space::require_resident(const Expr& bytes, const Expr& registers) {
  const Expr teams = ceil_div(static_cast<int>(task_.problem.sizes.dim), channels) *
                     (task_.problem.sizes.heads * task_.problem.sizes.batch);
  const Expr threads = ceil_div(floor_div(channels, per_thread) * segments + when(among, 32, 0), 128) * 128;
  Expr clusters = limits_.sm_count * when(time_split == 1, 1, 0);  // teams at once, one block an SM
  for (int size = 2; size <= target::largest_cluster(limits_); size *= 2)
    clusters = clusters + target::clusters_at_once(limits_, size, 1) * when(time_split == size, 1, 0);
  const Expr room = when(exchange == Exchange::Global, floor_div(limits_.sm_count, time_split), clusters);
  const auto resident = [&](const Expr& blocks_of_sm, const std::string& resource) {
    s_.require(implies(parts > 1 && exchange != Exchange::Launch, teams <= room * blocks_of_sm),
               "blocks resident at once, by " + resource);
  };
  resident(floor_div(limits_.shared_per_sm, bytes + kShootReserved), "shared memory");
  resident(floor_div(limits_.threads_per_sm, threads), "threads");
  // An estimate is no proof: where blocks wait through global memory one an SM is taken for granted.
  resident(when(exchange == Exchange::Global, 1, floor_div(limits_.registers_per_sm, registers * threads)),
           "registers");
}

}  // namespace

System Shoot::space(const Task& task) const { return Space(task).build(); }

}  // namespace rondo::schedule
