// The stream strategy's tuning space.

#include "compiler/constraint/united.h"
#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/schedule/channelwise/affine_transforms.h"
#include "compiler/schedule/plan/space_variables.h"
#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/schedule/stream/head_space.h"
#include "compiler/schedule/stream/resources.h"
#include "compiler/schedule/stream/rows_space.h"
#include "compiler/schedule/stream/strategy.h"
#include "compiler/support/integers.h"
#include "compiler/target/cluster_cost.h"

namespace rondo::schedule {

namespace {

using namespace constraint;

constexpr int kLeastRound = 2048;  // steps times channels, of a stage that hides an exchange
constexpr int kLongestAgain = 8;   // steps of a segment that computes them again: each is emitted four times
constexpr int kGridRound = 2048;   // the same, of an exchange through global memory

// The space as it is put together.
class Space {
 public:
  Space(const Task& task, const target::Limits& limits)
      : task_(task), limits_(limits), shape_(segment_shape(task)), parts_(shape_.parts) {}

  System build() {
    require_segments();
    require_copies();
    require_resources();
    return std::move(s_);
  }

 private:
  // Fewer instructions only where there are fewer.
  Rewrite most_rewrite() const {
    if (task_.problem.math != kernel::Math::Fast) return Rewrite::None;
    return stream_instructions_folded(task_) > 0 ? Rewrite::Throughput : Rewrite::Latency;
  }
  std::int64_t element() const { return kernel::storage_bytes(task_.problem.storage); }
  // Streaming stores matter where tensors pass through the L2.
  bool passes_l2() const { return compulsory_bytes(task_) > kTimesL2 * limits_.l2_bytes; }
  std::optional<Domain> segment_domain() const {
    if (!cut_) return values({1});
    if (!needs_whole_head(task_.cell)) return std::nullopt;
    std::vector<std::int64_t> all =
        domain_of(row_of<StreamParameters, &StreamParameters::segments>().values).values();
    std::erase(all, 1);
    return values(std::move(all));
  }
  void require_segments();
  void require_copies();
  void require_resources();

  const Task& task_;
  const target::Limits& limits_;
  const SegmentShape shape_;
  const int parts_;
  System s_;

  using P = StreamParameters;
  const Var channels = variable<P, &P::channels>(s_, values({8, 16, 24, 32, 48, 64, 96, 128, 192, 256}));
  const Var per_thread = variable<P, &P::per_thread>(s_, powers_of_two(1, 2));
  const Var steps = variable<P, &P::steps>(s_, values({8, 16, 32, 56, 64, 88, 112, 120, 128, 176, 240, 256}));
  const Var stages = variable<P, &P::stages>(s_);
  const Var unroll = variable<P, &P::unroll>(s_, powers_of_two(4, 16));
  const Var vector = variable<P, &P::vector>(s_);
  const Var producer_warps = variable<P, &P::producer_warps>(s_);
  // Rounding changes, so only where the user did not ask for accurate arithmetic.
  const ChoiceVar<Rewrite> rewrite = variable<P, &P::rewrite>(s_, up_to(most_rewrite()));
  const bool cut_ = parts_ > 0;
  const Var segments = variable<P, &P::segments>(s_, segment_domain());
  const Var time_split = variable<P, &P::time_split>(s_, cut_ ? std::nullopt : std::optional(values({1})));
  const ChoiceVar<Exchange> exchange =
      variable<P, &P::exchange>(s_, up_to(cut_ ? Exchange::Global : Exchange::Cluster));
  const Var stream_stores = variable<P, &P::stream_stores>(s_, if_so(passes_l2()));
  const Var interleaved_copies = variable<P, &P::interleaved_copies>(s_);
  const Var pipeline_depth = variable<P, &P::pipeline_depth>(s_, range(1, cut_ ? 2 : 1));
};

void Space::require_segments() {
  s_.require(implies(segments == 1, steps <= 64 && steps != 56), "long stages are for segments");
  s_.require(implies(segments > 1, unroll * segments == steps), "a segment's steps are unrolled");
  s_.require(implies(segments > 1, rewrite == Rewrite::None || rewrite == Rewrite::Throughput),
             "no chain from step to step in segments");
  if (shape_.again) {
    const Condition short_segments = per_thread == 1 && unroll <= kLongestAgain && pipeline_depth == 1;
    s_.require(implies(segments > 1, short_segments), "segments whose steps are computed again");
  }
  // With the scan warp they fill the SM's four schedulers evenly.
  s_.require(implies(segments == 7 || segments == 11 || segments == 15, time_split > 1),
             "segments beside the scan warp");
  s_.require(implies(exchange == Exchange::Cluster, time_split <= target::largest_cluster(limits_)),
             "thread blocks of a cluster (sm_90 and later)");
  s_.require(implies(time_split > 1, segments > 1), "blocks split time in segments");
  s_.require(implies(pipeline_depth == 2, time_split > 1), "rounds of blocks that split time");
  s_.require(implies(exchange == Exchange::Global,
                     time_split > 1 && producer_warps == 0 && steps * channels >= kGridRound),
             "rounds through global memory");
  s_.require(implies(interleaved_copies == 1, producer_warps == 0),
             "bursts between the steps of threads that compute");
  // Rounds shorter than this are all exchange; more shapes of ring would not move more.
  s_.require(implies(time_split > 1, steps * channels >= kLeastRound && stages <= 6 && producer_warps <= 1),
             "rounds of blocks that split time");
}

void Space::require_copies() {
  const std::int64_t dim = task_.problem.sizes.dim;
  s_.require(divides(vector, dim), "alignment of rows: a copy may not straddle two rows of D channels");
  s_.require(vector * element() <= 16, "a copy moves at most 16 bytes");
  s_.require(divides(vector, channels), "copies a block's row");
  // Narrower copies than D allows are for tensors that are not aligned to more; one shape of ring serves
  // them.
  std::int64_t widest = 16 / element();
  while (dim % widest != 0) widest /= 2;
  s_.require(implies(vector < widest,
                     steps == 16 && stages == 4 && unroll == 4 && time_split == 1 && interleaved_copies == 0),
             "narrow copies");
  // Tried on the rings that reach copy speed.
  s_.require(implies(stream_stores > 0, (stages == 3 || stages == 4) && steps * channels >= kLeastRound),
             "streaming stores");
  s_.require(per_thread <= vector, "alignment of stores");
  s_.require(divides(per_thread, channels), "channels a thread");
}

void Space::require_resources() {
  const Expr computing = floor_div(channels, per_thread) * segments;
  const Expr threads =
      s_.define("threads",
                when(producer_warps == 0, computing, (ceil_div(computing, 32) + producer_warps) * 32) +
                    when(time_split > 1, 32, 0),
                "threads a block");
  // The scan warp stands beside the computing warps, which meet at a barrier of whole warps.
  s_.require(implies(time_split > 1, mod(computing, 32) == 0), "the scan warp");
  s_.require(threads <= limits_.threads_per_block, "threads a block");
  s_.require(unroll <= steps, "unrolling");
  // A segment keeps the coefficients of all its steps in registers until the carries are known.
  const auto kept = [&](bool among_blocks, bool pipelined) {
    const auto count = [&](int channels_of_thread, int unrolled) {
      return segment_registers(among_blocks, pipelined, channels_of_thread, unrolled, shape_);
    };
    const int fixed = count(0, 0), each = count(1, 0) - fixed, step = count(1, 1) - fixed - each;
    return fixed + per_thread * (each + unroll * step);
  };
  const Expr registers = s_.define("segment_registers",
                                   when(segments == 1, 0,
                                        when(time_split == 1, kept(false, false),
                                             when(pipeline_depth == 1, kept(true, false), kept(true, true)))),
                                   "registers a thread");
  s_.require(registers <= limits_.registers_per_thread, "registers a thread");
  // Through global memory a lane of the scan warp has the words of all blocks at once (ScanLanes).
  const Expr words = time_split * ceil_div(channels, 64) * (2 * shape_.pattern.entries());
  s_.require(implies(exchange == Exchange::Global, words + kScanRegisters <= registers), "the scan warp");
  const Expr counted =
      when(time_split > 1, ceil_div(threads, kThreadsOfAllSchedulers) * kThreadsOfAllSchedulers,
           ceil_div(threads, 32) * 32);
  s_.require(registers * counted <= limits_.registers_per_sm, "registers a block");
  s_.require(channels <= (task_.problem.sizes.dim + 7) / 8 * 8, "channels the head has");
  const std::int64_t ring = stream_traffic(task_).staged * element();
  const std::int64_t each_team = team_exchange_bytes(shape_.pattern, 0, true, false);
  const auto each_block = [&](bool pipelined) {  // of a cluster
    return team_exchange_bytes(shape_.pattern, 1, false, pipelined) - each_team;
  };
  const Expr exchange_bytes =
      when(segments == 1, 0,
           segments * channels *
               when(time_split == 1, segment_exchange_bytes(task_, shape_.pattern, false),
                    segment_exchange_bytes(task_, shape_.pattern, true))) +
      when(time_split == 1, 0,
           channels * (each_team +
                       when(exchange == Exchange::Global, 0,
                            time_split * when(pipeline_depth == 2, each_block(true), each_block(false)))) +
               kMbarrierBytes);
  const Expr ring_bytes = stages * steps * channels * ring;
  const std::int64_t head_values = head_value_bytes(task_.cell);
  const Expr staged_bytes = head_values == 0 ? ring_bytes : ring_bytes + steps * head_values;
  const Expr shared =
      s_.define("shared_bytes", staged_bytes + exchange_bytes, "bytes of shared memory a block");
  s_.require(shared <= limits_.shared_per_block, "shared memory");
  // The blocks of a launch wait for each other: the tuned batch must be resident at once.
  const Expr blocks = ceil_div(static_cast<int>(task_.problem.sizes.dim), channels) *
                      (task_.problem.sizes.heads * task_.problem.sizes.batch) * time_split;
  const auto resident = [&](const Expr& blocks_of_sm, const std::string& resource) {
    s_.require(implies(exchange == Exchange::Global, blocks <= limits_.sm_count * blocks_of_sm),
               "blocks resident at once, by " + resource);
  };
  resident(floor_div(limits_.shared_per_sm, shared + kSharedReserved), "shared memory");
  const Expr with_functions = max(1, registers + shape_.function_registers()) * counted;
  resident(min(kMostBlocksOfGrid, max(1, floor_div(limits_.registers_per_sm, with_functions))), "registers");
  resident(floor_div(limits_.threads_per_sm, ceil_div(threads, 32) * 32), "threads");
}

}  // namespace

namespace {

System one_thread_a_channel(const Task& task) {
  if (!needs_whole_head(task.cell)) return Space(task, task.profile.limits).build();
  if (segment_parts(task) == 0) return head_space(task);
  // In order a block holds the whole head; where time is cut each channel copies what the head has.
  const System cut = Space(task, task.profile.limits).build();
  return head_fits(task).legal ? united(head_space(task), cut, {"segments", "_cut"}) : cut;
}

}  // namespace

System Stream::space(const Task& task) const {
  System rows_of_a_thread = one_thread_a_channel(task);
  if (rows_shapes(task).empty()) return rows_of_a_thread;
  variable<StreamParameters, &StreamParameters::row_lanes>(rows_of_a_thread, values({1}));
  return united(rows_of_a_thread, rows_space(task), {"row_lanes", "_rows"});
}

}  // namespace rondo::schedule
