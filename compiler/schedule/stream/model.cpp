// The stream strategy's cost model.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "compiler/schedule/analysis/step_cost.h"
#include "compiler/schedule/channelwise/affine_transforms.h"
#include "compiler/schedule/lower/head_gradient_sum.h"
#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/schedule/stream/head_space.h"
#include "compiler/schedule/stream/resources.h"
#include "compiler/schedule/stream/rows_space.h"
#include "compiler/schedule/stream/strategy.h"
#include "compiler/support/integers.h"
#include "compiler/target/cluster_cost.h"

namespace rondo::schedule {

namespace {

// What the largest part of a block's time does not hide of the others.
constexpr double kShows = 0.1;
constexpr double kUnproven =
    1.01;  // streaming stores, interleaved copies: after the point without, for the tuner to find
// Cycles from one instruction of a warp to its next where it has a scheduler to itself and walks in one
// segment of time, as in the last wave of a launch: mingru 16 x 4096 channels, T = 65536, on an H200 took 7.3
// ms with 396 blocks of two warps and then 116, three and one on an SM, and 6.1 where all blocks had room.
// Warps that walk in segments have more steps to choose from.
constexpr double kLoneWarp = 2;
// Cycles of a producer warp from one copy to the next, with all that computes its addresses: mingru 8 x 768
// channels, T = 4096, backward, on an H200: 96 us with one such warp and 77 where all warps copy.
constexpr double kProducerCopy = 40;
// Instructions of a thread for a copy of 16 bytes, with its address and the question whether it is wanted.
constexpr double kOfCopy = 6;
constexpr std::int64_t kSector = 32;     // bytes
constexpr double kSharedSectors = 1.25;  // times the traffic
// What a warp writes to a part of a sector takes the time of so many bytes. A gated delta rule of 64 keys (1
// x 4096 steps, 32 heads of 128 channels, bf16) that saves its states took 1.04 ms on an H200 with 32 bytes
// of a row a warp, 1.6 to 1.7 with 16, 3.5 to 5.0 with 8; backward, where a share's numbers were
// written alone, with 16 shares a head 4.6 to 5.1 ms, with 32 shares 10.5 to 11.9.
constexpr double kPartOfSector = 2 * kSector;
// Memory is waited for by so much longer where a block has one segment of time: nothing overlaps the end of a
// stage then. Of
// 1032 configurations of seven problems on an H200 (mingru, hgrn, affine, B*D of 8192 to 32768, T of 1000 to
// 65536), those with two segments and more were 4 to 5% nearer to the model.
constexpr double kOneSegment = 1.04;
constexpr double kGridExchange = 1.2e-6;  // seconds, of words through the L2 of a busy GPU (assumed)
constexpr double kPaceOfSlowest = 1.03;   // the blocks of a cluster wait for each other each round (assumed)
// Where many blocks split time each round waits for the slowest, whose SM was busy for another team: what the
// warps of an SM have to do does not hide behind the exchange then. With rounds in flight it does in a grid;
// in a cluster copies do not hide either, while without them a cluster of 16 takes longer for a round. mingru
// of 64 and 1024 channels, T of 2048 to 1M on an H200 (StreamModel): within 25%, of which it said a third to
// three quarters without.
constexpr int kManyBlocks = 4, kLargeCluster = 16;
constexpr double kLargeClusterExchange = 0.28e-6;  // seconds a round beyond that of 8
// Of a launch of clusters beyond one of blocks: they start together, wait until the others' mbarriers are
// ready, and end together. mingru on an H200: 3.85 us for 128 steps of 1024 channels by two blocks and 2.71
// by one; 512 steps of 64 channels by eight blocks 3.5 us, and 128 by one 2.3 (h200-shoot-map.json).
constexpr double kClusterLaunch = 1e-6;  // seconds

// Blocks of one SM at once.
int resident(const target::Limits& limits, std::int64_t shared, int threads) {
  const std::int64_t by_shared = limits.shared_per_sm / (shared + kSharedReserved);
  const std::int64_t by_threads = limits.threads_per_sm / ((threads + 31) / 32 * 32);
  return static_cast<int>(
      std::max<std::int64_t>(1, std::min({by_shared, by_threads, std::int64_t{limits.blocks_per_sm}})));
}

// Along a block's own segments, a round; 100: latencies of the first loads.
double own_cycles(const StreamParameters& p) { return 8.0 * p.unroll + 100; }

// Cycles in which a map is taken along the segments: it comes from shared memory, two words at a time. Maps
// of few entries cost no more than what their latency does. Where blocks split time the scan warp composes
// the maps twice, of two channels a lane.
double scan_cycles(const StreamParameters& p, const SegmentShape& shape) {
  constexpr double kLatency = 16;
  if (!shape.again) return kLatency;
  const TransformPattern& map = shape.pattern;
  const double loads = 0.5 * map.entries();
  return std::max(kLatency, p.among_blocks() ? 4 * (map.products() + loads) : map.entries() + loads);
}

// A stream problem priced for one GPU. `speeds` and `limits` are copied: the model outlives the profile it
// was made from.
struct Model {
  step::Sizes sizes;
  target::Limits limits;
  target::Speeds speeds;
  StreamTraffic traffic;
  StepCost step, scan;  // scan: beside it, in segments
  int folded = 0;       // instructions a step that Rewrite::Throughput takes away
  std::int64_t element = 2;
  std::int64_t segment_exchange = 0;       // bytes by segment and channel
  std::int64_t team_segment_exchange = 0;  // the same, where blocks split time
  // Bytes by channel of what such blocks have besides.
  std::function<std::int64_t(const StreamParameters&)> team_exchange;
  SegmentShape shape;
  std::int64_t head_values = 0;   // bytes by step of a stage
  std::optional<HeadShape> head;  // where a block holds the whole head
  // Where rows may be dealt: what a thread has, by lanes.
  std::map<int, RowsShape> shapes;
  RowsStaging staging;

  // Where they are dealt.
  const RowsShape* dealt(const StreamParameters& p) const {
    return p.row_lanes > 1 ? &shapes.at(p.row_lanes) : nullptr;
  }

  // Blocks that are on the GPU at once.
  struct Wave {
    double blocks = 1;   // in all
    double busiest = 1;  // on the busiest SM
  };
  // How the blocks of a launch lie on the GPU: full waves, and one of what is left.
  struct Placing {
    double full_waves = 0;
    Wave full, last;
  };

  Estimate operator()(const Parameters& parameters) const;
  std::int64_t ring_bytes(const StreamParameters& p) const;
  std::int64_t shared_bytes(const StreamParameters& p) const;
  Placing place(const StreamParameters& p) const;
  double memory(const StreamParameters& p, const Wave& at) const;
  double issue(const StreamParameters& p, const Wave& at) const;
  double issue_of_rows(const StreamParameters& p, const RowsShape& own, double warps) const;
  // Cycles of a round of a team of blocks: along the own segments, and along those of all.
  struct Round {
    double own, scanning;
  };
  Round round(const StreamParameters& p) const;
  double chain(const StreamParameters& p) const;
  double row_waste(std::int64_t bytes) const;
  double block_bytes(const StreamParameters& p) const;
  double head_bytes(const StreamParameters& p) const;
  double parted_bytes(const StreamParameters& p) const;
  double producing(const StreamParameters& p) const;
  // Seconds, of the parts of it.
  double working(const StreamParameters& p, const Wave& at, const Estimate& e) const;
  Estimate wave(const StreamParameters& p, const Wave& at) const;
  // Steps a block works on, in a cluster also those past the end.
  double block_steps(const StreamParameters& p) const;
};

std::int64_t Model::ring_bytes(const StreamParameters& p) const {
  if (dealt(p) != nullptr) return rows_shared_bytes(p, staging, 0);
  return std::int64_t{p.stages} * p.steps * p.channels * p.heads * traffic.staged * element;
}

std::int64_t Model::shared_bytes(const StreamParameters& p) const {
  std::int64_t bytes = ring_bytes(p) + head_values * p.steps * p.heads;
  if (p.segments > 1)
    bytes += p.segments * p.channels * (p.among_blocks() ? team_segment_exchange : segment_exchange);
  if (p.among_blocks()) bytes += p.channels * team_exchange(p) + kMbarrierBytes;
  if (head) {
    const std::int64_t warps = (p.threads() + 31) / 32;
    bytes += p.head_split == 1
                 ? head_word_bytes(*head) * warps
                 : cluster_word_bytes(*head) * warps * p.head_split + cluster_fixed_bytes(*head);
    bytes += p.channels * p.heads * head_row_bytes(*head);
  }
  return bytes;
}

double Model::block_steps(const StreamParameters& p) const {
  if (p.time_split == 1) return static_cast<double>(sizes.time);
  return std::ceil(static_cast<double>(sizes.time) / (p.time_split * p.steps)) * p.steps;
}

Model::Placing Model::place(const StreamParameters& p) const {
  const double tiles = head ? 1 : std::ceil(static_cast<double>(sizes.dim) / p.channels);
  Placing at;
  const std::int64_t heads = ceil_div(sizes.heads, p.heads);
  const int cluster = p.time_split * p.head_split;
  const double blocks = tiles * static_cast<double>(heads * sizes.batch * cluster);
  int per_sm = resident(limits, shared_bytes(p), p.threads());
  if (p.time_split > 1) per_sm = std::min(per_sm, blocks_by_registers(p, shape));
  if (head) per_sm = std::min(per_sm, head_blocks_by_registers(p, *head, limits));
  if (const RowsShape* own = dealt(p)) per_sm = std::min(per_sm, rows_blocks_by_registers(p, *own, limits));
  const double room = cluster == 1 || p.through_global()
                          ? static_cast<double>(per_sm) * limits.sm_count
                          : std::max(1, target::clusters_at_once(limits, cluster, per_sm)) * cluster;
  at.full_waves = std::ceil(blocks / room) - 1;
  at.full = {room, static_cast<double>(per_sm)};
  at.last.blocks = blocks - at.full_waves * room;
  at.last.busiest = std::min<double>(per_sm, std::ceil(at.last.blocks * per_sm / room));
  return at;
}

// How many times its bytes a row of a tile moves: all sectors that it touches. Of a sector that two tiles
// share each writes a part, and where the L2 does not keep it until both have, it is read before it is
// written. Half of an H200's L2 counts: the other half keeps what other SMs use. mingru of 256 channels,
// T=131072, on an H200: 137 us with 24 channels a tile, 86 with 48 and 111 with 32 (h200-shoot-map.json).
double Model::row_waste(std::int64_t bytes) const {
  std::int64_t touched = 0, rows = 0;
  do {
    touched += ceil_div((rows + 1) * bytes, kSector) - rows * bytes / kSector;
    ++rows;
  } while (rows * bytes % kSector != 0);
  const double sectors = static_cast<double>(touched * kSector) / static_cast<double>(rows * bytes);
  const double moved =
      static_cast<double>(sizes.batch * sizes.time * sizes.heads * sizes.dim * element) * traffic.moved;
  const double lost = std::max(0.0, 1 - 0.5 * static_cast<double>(limits.l2_bytes) / moved);
  return bytes % kSector == 0 ? sectors : (1 + kSharedSectors * lost) * sectors;
}

// How many times its bytes a row of a tile moves for its length: the fewer whole lines of memory lie side by
// side, the less of what a DRAM page is opened for is used. The same configurations: rows of 128 bytes took
// 1.04 times as long as those of 256, 64 and 192 bytes 1.10, 96 bytes 1.16.
double short_rows(std::int64_t bytes) {
  constexpr std::int64_t kLongRow = 512;
  if (bytes == kSector) return 1.4;
  if (bytes > kLongRow) return 1;
  if (bytes % 256 == 0) return 1;
  if (bytes % 128 == 0) return 1.04;
  return bytes % 64 == 0 ? 1.1 : 1.16;
}

// Bytes one block moves.
double Model::block_bytes(const StreamParameters& p) const {
  const std::int64_t channels = head ? sizes.dim * p.heads / p.head_split : p.channels;
  const std::int64_t row_bytes = channels * element;
  const double of_rows =
      dealt(p) == nullptr ? 0 : static_cast<double>(sizes.time) * (head_bytes(p) + parted_bytes(p));
  return static_cast<double>(sizes.time) / p.time_split * static_cast<double>(row_bytes) * traffic.moved *
             short_rows(row_bytes) * row_waste(row_bytes) +
         of_rows;
}

// Bytes by step that a block moves of what the head has many values of, where rows are dealt: the values, and
// its warps' shares of their gradients, written to parts of sectors, and read again.
double Model::head_bytes(const StreamParameters& p) const {
  const double warps = std::ceil(p.threads() / 32.0);
  const double moved = static_cast<double>(sizeof(float)) + kPartOfSector / dealt(p)->together;
  return static_cast<double>(staging.of_head) + moved * warps * dealt(p)->share_rows;
}

// Bytes by step that a block moves beyond those it writes, where rows are dealt: the channels of a warp are
// fewer than fill a sector of a row.
double Model::parted_bytes(const StreamParameters& p) const {
  const std::int64_t row = kWarpLanes / p.row_lanes * p.per_thread * element;
  if (row % kSector == 0) return 0;
  const double moved = static_cast<double>(ceil_div(row, kSector)) * kPartOfSector;
  return static_cast<double>(dealt(p)->all_written) * p.channels * static_cast<double>(element) *
         (moved / static_cast<double>(row) - 1);
}

// The whole over the copy bandwidth, or the busiest SM's share over what an SM can move: that is limited by
// its port and, by Little's law, by the bytes it keeps in flight.
double Model::memory(const StreamParameters& p, const Wave& at) const {
  const double pace =
      (p.time_split * p.head_split == 1 ? 1 : kPaceOfSlowest) * (p.segments == 1 && !head ? kOneSegment : 1);
  const double all = pace * block_bytes(p) * at.blocks / speeds.copy_bytes_per_s;
  // In segments a stage is waited for half a stage before its time (segments.cpp).
  const double flying = p.stages - (p.segments == 1 ? 1 : 1.5);
  const double in_flight = at.busiest * static_cast<double>(ring_bytes(p)) * flying / p.stages;
  // A cell that reads no tensor of the steps has no bytes in flight to wait for.
  const double sm_rate = traffic.staged == 0
                             ? speeds.sm_bytes_per_s
                             : std::min(speeds.sm_bytes_per_s, in_flight / speeds.loaded_latency_s() *
                                                                   traffic.moved / traffic.staged);
  return std::max(all, at.busiest * block_bytes(p) / sm_rate);
}

// An SM has four schedulers, each issues one warp instruction a cycle; staging, loads, stores and conversions
// come on top of the step's own arithmetic.
double Model::issue(const StreamParameters& p, const Wave& at) const {
  const double warps = std::ceil(p.threads() / 32.0) * at.busiest;
  if (const RowsShape* own = dealt(p)) return issue_of_rows(p, *own, warps);
  const double overhead =
      2.0 * traffic.moved + 6.0 / p.per_thread + 1.5 * traffic.staged * p.threads() / (p.vector * 32.0);
  // Composing and applying the steps' transforms, or composing them and applying those of all segments.
  double transforms = p.segments == 1 ? 0 : 2.0 * shape.pattern.entries();
  if (shape.again && p.segments > 1)
    transforms =
        shape.pattern.products() + (p.among_blocks() ? 0 : scan_cycles(p, shape) * p.segments / p.unroll);
  const StepCost more = p.segments == 1 ? StepCost{} : scan;
  const int alu = step.alu + more.alu - (p.rewrite == Rewrite::Throughput ? folded : 0);
  const int special_functions = step.special + more.special;
  const double exchanges = head ? head_exchange_slots(p, *head) : 0;
  const double slots = p.per_thread * (alu + special_functions + overhead + transforms) + exchanges;
  const double special = p.per_thread * special_functions * 128 / speeds.special_per_cycle_sm;
  const double turns = std::max(p.segments == 1 ? kLoneWarp : 1, std::ceil(warps / 4));
  return block_steps(p) / p.segments * turns * std::max(slots, special) / speeds.clock_hz;
}

// All warps of an SM share the way to shared memory and from lane to lane.
double Model::issue_of_rows(const StreamParameters& p, const RowsShape& own, double warps) const {
  const double turns = std::max(kLoneWarp, std::ceil(warps / 4));
  const double copied = static_cast<double>(ring_bytes(p)) / (p.stages * p.steps);  // bytes a step
  const double copies = kOfCopy * copied / (16.0 * p.threads());
  const double cycles = std::max(turns * (rows_slots(p, own) + copies), warps * rows_port_slots(p, own));
  const double special = turns * p.per_thread * own.cost.special * 128 / speeds.special_per_cycle_sm;
  return block_steps(p) * std::max(cycles, special) / speeds.clock_hz;
}

// The scan warp goes along the segments twice, waits for the others' transforms and goes along the blocks.
Model::Round Model::round(const StreamParameters& p) const {
  const double exchange =
      p.through_global()
          ? kGridExchange * speeds.clock_hz
          : target::cluster_exchange_cycles(
                p.time_split,
                static_cast<double>(p.time_split * p.channels * TransformTable::bytes(shape.pattern))) +
                (p.time_split >= kLargeCluster && !p.pipelined() ? kLargeClusterExchange * speeds.clock_hz
                                                                 : 0);
  return {own_cycles(p), scan_cycles(p, shape) * p.segments + 8.0 * p.time_split + exchange};
}

// Seconds of the dependent chain of one block. In segments: multiply-adds along a segment, twice, and along
// the segments. Where blocks split time a round's scan comes behind it; with two rounds in flight, beside the
// next one, so that the last one's shows.
double Model::chain(const StreamParameters& p) const {
  const double steps = block_steps(p), rounds = steps / p.steps;
  if (p.segments == 1) {
    const double loop = 12.0 / p.unroll;  // loop counter, branch and the slack of a short unroll
    const double exchanges = head ? head_exchange_seconds(p, *head, speeds) : 0;
    const double cycles = dealt(p) == nullptr ? step.chain : rows_chain_cycles(p, *dealt(p));
    return steps * ((cycles + loop) / speeds.clock_hz + exchanges) + rounds * speeds.barrier_s;
  }
  if (!p.among_blocks())
    return rounds *
           ((own_cycles(p) + scan_cycles(p, shape) * p.segments) / speeds.clock_hz + 2 * speeds.barrier_s);
  const auto [own, scanning] = round(p);
  const double cycles =
      p.pipelined() ? rounds * std::max(own, scanning) + std::min(own, scanning) : rounds * (own + scanning);
  return cycles / speeds.clock_hz + rounds * speeds.barrier_s;
}

// The largest part hides the others only in part: a tenth of them shows. Where an SM has one block that walks
// in one segment, all its warps wait for a stage at the same time: the closer memory and chain are to each
// other, the longer. paragru of 16384 channels, T = 32768, on an H200: 1.79 ms with 128 channels a block, one
// block an SM; 1.47 with 64, two.
double Model::working(const StreamParameters& p, const Wave& at, const Estimate& e) const {
  const double sum = e.memory + e.issue + e.chain;
  const bool many = p.time_split >= kManyBlocks, in_cluster = !p.through_global();
  if (many && p.pipelined() && in_cluster) return sum;
  const bool in_step = many && !p.pipelined();
  const double top = std::max(e.memory, in_step ? e.issue + e.chain : std::max(e.issue, e.chain));
  const bool alone = at.busiest == 1 && p.segments == 1 && !head;
  const double waited = alone ? std::max(std::hypot(e.memory, e.chain) - top, 0.0) : 0;
  return top + std::max(kShows * (sum - top), waited);
}

// Seconds in which the producer warps of a block issue its copies, 16 bytes a lane.
double Model::producing(const StreamParameters& p) const {
  if (p.producer_warps == 0) return 0;
  const double copies = std::ceil(static_cast<double>(p.steps) * p.channels * p.heads * traffic.staged /
                                  (32.0 * p.vector * p.producer_warps));
  return block_steps(p) / p.steps * copies * kProducerCopy / speeds.clock_hz;
}

Estimate Model::wave(const StreamParameters& p, const Wave& at) const {
  Estimate e;
  e.memory = memory(p, at);
  e.issue = issue(p, at);
  e.chain = std::max(chain(p), producing(p));
  const double stage_bytes =
      block_bytes(p) * p.time_split / static_cast<double>(sizes.time) * p.steps;  // read and written
  e.launch = speeds.memory_latency_s + stage_bytes / speeds.sm_bytes_per_s;
  e.seconds = working(p, at, e) + e.launch;
  return e;
}

Estimate Model::operator()(const Parameters& parameters) const {
  StreamParameters p = read_parameters<StreamParameters>(parameters);
  p.whole_head = head.has_value();
  const Placing at = place(p);
  Estimate e = wave(p, at.last);
  if (at.full_waves > 0) {
    const Estimate full = wave(p, at.full);
    for (double Estimate::*part :
         {&Estimate::memory, &Estimate::issue, &Estimate::chain, &Estimate::launch, &Estimate::seconds})
      e.*part += at.full_waves * full.*part;
  }
  double starting = speeds.launch_s;
  if (p.through_global())
    starting += speeds.launch_s;  // that clears the exchange
  else if (p.among_blocks())
    starting += kClusterLaunch;
  e.launch += starting;
  e.seconds += starting;
  if (p.among_blocks()) e.may_spill = may_spill(p, shape);
  if (head) e.may_spill = head_may_spill(p, *head, limits);
  // One thread that has all rows, too.
  if (!shapes.empty() && p.segments == 1 && rows_may_spill(p, shapes.at(p.row_lanes), limits))
    e.may_spill = true;
  if (p.stream_stores) e.seconds *= kUnproven;
  if (p.interleaved_copies) e.seconds *= kUnproven;
  return e;
}

// Rows of storage type that shares of gradients of inputs with one value a head take: fp32, written and read.
int rows_of_shares(const Task& task) {
  if (task.problem.pass != Pass::Backward) return 0;
  return 2 * head_value_rows(task.cell) * 4 / kernel::storage_bytes(task.problem.storage);
}

// Launches that add up shares, of inputs and of initial states.
int launches_of_shares(const Task& task) {
  if (task.problem.pass != Pass::Backward) return 0;
  const std::vector<step::Tensor>& tensors = task.cell.tensors;
  return static_cast<int>(std::ranges::count_if(tensors, [](const step::Tensor& tensor) {
    return tensor.tail == step::Tail::Scalar &&
           (tensor.kind == TensorKind::Input || tensor.kind == TensorKind::State);
  }));
}

}  // namespace

CostModel Stream::cost_model(const Task& task) const {
  const std::map<int, RowsShape> rows = rows_shapes(task);
  const RowsStaging staging = rows.empty() ? RowsStaging{} : rows_staging(task);
  const auto model = [&](const std::optional<HeadShape>& head, int moved) {
    StreamTraffic traffic = stream_traffic(task);
    traffic.moved += moved;
    const SegmentShape shape = segment_shape(task);
    return Model{task.problem.sizes,
                 task.profile.limits,
                 task.profile.speeds,
                 traffic,
                 head ? head->cost : stream_cost(task),
                 head ? StepCost{} : scan_cost(task),
                 stream_instructions_folded(task),
                 kernel::storage_bytes(task.problem.storage),
                 segment_exchange_bytes(task, shape.pattern, false),
                 segment_exchange_bytes(task, shape.pattern, true),
                 [pattern = shape.pattern](const StreamParameters& p) {
                   return team_exchange_bytes(pattern, p.time_split, p.through_global(), p.pipelined());
                 },
                 shape,
                 head_value_bytes(task.cell),
                 head,
                 rows,
                 staging};
  };
  const bool in_order = !needs_whole_head(task.cell);
  if (in_order && rows.empty()) return model(std::nullopt, 0);
  if (!in_order && rows.empty() && segment_parts(task) == 0) return model(head_shape(task), 0);
  // Each channel has a share of gradients of what the head has, but where a block holds the head; where rows
  // are dealt, each warp.
  const Model whole = in_order ? model(std::nullopt, rows_of_shares(task)) : model(head_shape(task), 0);
  const double sums = launches_of_shares(task) * task.profile.speeds.launch_s;
  return [in_order, whole, sums, dealt = model(std::nullopt, 0),
          cut = model(std::nullopt, rows_of_shares(task))](const Parameters& parameters) {
    const auto lanes = parameters.find("row_lanes");
    const bool in_lanes = lanes != parameters.end() && lanes->second > 1;
    const bool by_head = !in_order && !in_lanes && parameters.at("segments") == 1;
    Estimate e = (in_lanes ? dealt : parameters.at("segments") == 1 ? whole : cut)(parameters);
    e.launch += by_head ? 0 : sums;
    e.seconds += by_head ? 0 : sums;
    return e;
  };
}

}  // namespace rondo::schedule
