#include "compiler/schedule/channelwise/scan_warp.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/channelwise/cluster_transforms.h"
#include "compiler/schedule/channelwise/global_transforms.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

using kernel::Storage;

namespace {

constexpr int kLanes = 32;
// Transforms loaded side by side: of up to so many words, all that is of use; of more, as registers hold.
constexpr int kTogether = 16, kFewWords = 16, kWordsTogether = 64;
// Of the registers that a thread of a block has: what a lane has beside transforms, and transforms that it
// has beside those it loads.
constexpr int kRegistersOfSm = 65536, kMostRegisters = 256, kRegistersBeside = 36, kOwnTransforms = 3;

// For lanes that load `each` of them at a time, where an SM has so many threads.
int loaded_together(const TransformPattern& pattern, int each, int threads) {
  const int words = pattern.entries() * each;
  if (words > kFewWords) return std::max(1, kWordsTogether / words);
  const int registers = std::min(kMostRegisters, kRegistersOfSm / threads);
  return std::clamp((registers - kRegistersBeside) / words - kOwnTransforms, 1, kTogether);
}

}  // namespace

ScanLanes ScanLanes::of(int channels) {
  ScanLanes lanes;
  lanes.each = ceil_div(channels, 2 * kLanes) * 2;
  lanes.lanes = channels / lanes.each;
  return lanes;
}

void ScanLanes::if_any(kernel::Builder& b, const std::function<void()>& action) const {
  lanes == kLanes ? action() : b.if_(lane < lanes, action);
}

ScanWarp::ScanWarp(ChannelThreads& kernel, const Team& parameters, const step::Cell& cell,
                   const TransformPattern& pattern, bool counts, bool rounding)
    : kernel_(kernel),
      builder_(kernel.builder()),
      parameters_(parameters),
      cell_(cell),
      counts_(counts),
      rounding_(rounding) {
  auto& b = builder_;
  const Team& p = parameters;
  table_ = {{}, p.segments, pattern, p.channels, {}};
  table_.memory = b.shared("segment_maps", Storage::F32, kSlots * table_.elements(),
                           fmt::format("[slots {}, segments {}, entries {}, channels {}, 2]", kSlots,
                                       p.segments, table_.entries() / 2, p.channels));
  incoming_ = b.shared("befores", Storage::F32, std::int64_t{kSlots} * states() * p.channels,
                       fmt::format("[slots {}, rows {}, channels {}]", kSlots, states(), p.channels));
  if (rounding_)
    remembered_ = b.shared("remembered", Storage::F32,
                           std::int64_t{kSlots} * RememberedRounding::entries(states()) * p.channels,
                           fmt::format("[slots {}, entries {}, channels {}]", kSlots,
                                       RememberedRounding::entries(states()), p.channels));
  if (!counts_)
    scanned_ = b.mbarrier("followed", kSlots, kLanes, "what the block's part starts from is there");
  if (p.through_global()) exchange_ = kernel.signature().writes({Role::Exchange, -1}).memory;
  blocks_ = exchange(p, pattern, p.channels, "maps");
  if (!counts_) return;
  block_counts_ = exchange(p, 1, kCountChannels, "counts");
  warp_counts_ = b.shared("warp_counts", Storage::F32, std::int64_t{kSlots} * warps(), "[slots, warps]");
  totals_ = b.shared("totals", Storage::F32, kSlots, "[slots]: the sum of all counts of the team");
}

std::int64_t ScanWarp::exchange_words(const Team& team, const TransformPattern& pattern, bool counts) {
  const TransformTable maps{{}, team.time_split, pattern, team.channels, {}};
  const TransformTable numbers{{}, team.time_split, 1, kCountChannels, {}};
  return maps.elements() + (counts ? numbers.elements() : 0);
}

std::unique_ptr<BlockTransforms> ScanWarp::exchange(const Team& p, const TransformPattern& pattern,
                                                    int channels, const std::string& name) {
  TransformTable table{exchange_, p.time_split, pattern, channels, {}};
  if (!p.through_global())
    return std::make_unique<ClusterTransforms>(kernel_, std::move(table), p.pipelined(), name);
  const std::int64_t all = exchange_words(p, table_.pattern, counts_);
  const std::int64_t first = name == "maps" ? 0 : all - table.elements();
  return std::make_unique<GlobalTransforms>(kernel_, table, all, first);
}

void ScanWarp::begin() {
  blocks_->begin();
  if (counts_) block_counts_->begin();
}

void ScanWarp::publish(Value round, const std::vector<AffineTransform>& transforms, Value count) {
  auto& b = builder_;
  b.comment("this segment's map, for the warp that follows the carries");
  segment_transforms(round).store(b, kernel_.here().segment, kernel_.here().lane_channel, transforms);
  if (counts_)
    b.if_(b.thread() % kLanes == 0,
          [&] { b.store(warp_counts_[round % kSlots * warps() + b.thread() / kLanes], count); });
  sync_published(round, counts_);
}

Value ScanWarp::total(Value round) { return builder_.load("total", totals_[round % kSlots]); }

void ScanWarp::sync_published(Value round, bool waits) {
  auto& b = builder_;
  const auto sync = [&](int barrier) { b.named_barrier(barrier, parameters_.computing() + kLanes, waits); };
  if (!parameters_.pipelined()) return sync(kPublishedBarrier);
  b.if_(
      round % 2 == 0, [&] { sync(kPublishedBarrier); }, [&] { sync(kPublishedBarrier + 1); });
}

kernel::Place ScanWarp::incoming(Value round, int row, Value channel) {
  return incoming_[(round % kSlots * states() + row) * parameters_.channels + channel];
}

kernel::Place ScanWarp::remembered(Value round, int entry, Value channel) {
  const int entries = RememberedRounding::entries(states());
  return remembered_[(round % kSlots * entries + entry) * parameters_.channels + channel];
}

RememberedRounding ScanWarp::incoming_rounding(Value round, int channel) {
  auto& b = builder_;
  RememberedRounding result(b, states());
  for (int i = 0; i < RememberedRounding::entries(states()); ++i)
    b.assign(result.all()[at(i)],
             b.load("before", remembered(round, i, kernel_.here().lane_channel + channel)));
  return result;
}

std::vector<Value> ScanWarp::incoming_carries(Value round, const EachPrefix& each) {
  auto& b = builder_;
  b.comment("the carry before the block's part, and the segments before this one");
  if (counts_)
    b.named_barrier(kScannedBarrier, parameters_.computing() + kLanes);
  else
    b.wait(scanned_, round % kSlots, round / kSlots % 2);
  const int channels = parameters_.per_thread;
  std::vector<TransformColumn> columns(at(channels));
  for (int row = 0; row < states(); ++row) {
    const std::vector<Value> loaded =
        b.load_vector("before", incoming(round, row, kernel_.here().lane_channel), channels);
    for (int c = 0; c < channels; ++c) columns[at(c)].rows.push_back(loaded[at(c)]);
  }
  const std::vector<AffineTransform> transforms =
      segment_transforms(round).load(b, kernel_.here().segment, kernel_.here().lane_channel, channels);
  for (int c = 0; c < channels; ++c) {
    const std::vector<Value> into_block = columns[at(c)].rows;
    columns[at(c)].rows = apply_transform(b, transforms[at(c)], columns[at(c)]);
    // The identity keeps a row only where no other one is infinite.
    for (std::size_t k = 0; counts_ && k < into_block.size(); ++k)
      columns[at(c)].rows[k] =
          b.let("after", b.select(kernel_.here().segment == 0, into_block[k], columns[at(c)].rows[k]));
    if (each) each(c, transforms[at(c)], into_block, columns[at(c)].rows);
  }
  std::vector<Value> values;
  for (int row = 0; row < states(); ++row)
    for (int c = 0; c < channels; ++c) values.push_back(columns[at(c)].rows[at(row)]);
  return values;
}

void ScanWarp::enter(const std::map<step::TensorId, KernelTensor>& first) {
  auto& b = builder_;
  lanes_ = ScanLanes::of(parameters_.channels);
  lanes_.lane = b.let("lane", b.thread() % kLanes);
  lanes_.first = b.let("followed", lanes_.lane * lanes_.each);
  carries_ = registers("carry");
  if (!counts_) wait_alone();
  b.comment("first carries");
  lanes_.if_any(b, [&] {
    for (int c = 0; c < lanes_.each; ++c)
      kernel_.if_channel_exists(lanes_.first + c, [&](Value channel) {
        for (std::size_t k = 0; k < cell_.next.size(); ++k) {
          const step::Row& row = cell_.next[k];
          b.assign(carries_[at(c)].rows[k], kernel_.first_carry(first.at(row.tensor), row, channel));
        }
      });
  });
}

void ScanWarp::role(const std::map<step::TensorId, KernelTensor>& first) {
  enter(first);
  scan_rounds();
}

void ScanWarp::wait_alone() { builder_.named_barrier(kScanBarrier, kLanes); }

void ScanWarp::role_in_rounds(const std::map<step::TensorId, KernelTensor>& first, const Rounds& rounds,
                              Value steps) {
  auto& b = builder_;
  enter(first);
  block_steps_ = steps;
  for (int c = 0; rounding_ && c < lanes_.each; ++c) {
    walked_.emplace_back(b, states());
    incoming_rounding_.emplace_back(b, states());
  }
  std::vector<TransformColumn> beginning = registers("beginning");
  const auto copy = [&](const std::vector<TransformColumn>& from, const std::vector<TransformColumn>& to) {
    for (std::size_t c = 0; c < from.size(); ++c)
      for (std::size_t k = 0; k < from[c].rows.size(); ++k) b.assign(to[c].rows[k], from[c].rows[k]);
  };
  copy(carries_, beginning);
  b.for_("round", b.constant(0), rounds.end, b.constant(1), 1, [&](Value round) {
    if (const Value turns = rounds.turns(round); turns.valid())
      b.for_("turn", b.constant(0), turns, b.constant(1), 1, [&](Value) { wait_alone(); });
    send(round);
    send_count(round);
    store_exclusive_prefixes(round);
    copy(beginning, carries_);
    scan(round);
    const Value total = scan_counts(round);
    announce(round);
    rounds.conclude(round, total);
  });
}

// One lane has the numbers.
ScanLanes ScanWarp::count_lanes() const {
  ScanLanes lanes = lanes_;
  lanes.each = kCountChannels;
  lanes.lanes = 1;
  lanes.first = builder_.constant(0);
  return lanes;
}

void ScanWarp::send_count(Value round) {
  auto& b = builder_;
  b.comment("the block's count, to all blocks that split time with it");
  const ScanLanes lanes = count_lanes();
  lanes.if_any(b, [&] {
    const Value sum = b.variable("count", b.real(0));
    b.for_("warp", 0, warps(), std::min(warps(), kTogether), [&](Value warp) {
      b.assign(sum, sum + b.load("own", warp_counts_[round % kSlots * warps() + warp]));
    });
    block_counts_->send(round, lanes, {{b.real(1), sum}, {b.real(1), b.real(0)}});
  });
}

// Gives the team's total to all lanes, and to the threads that compute.
Value ScanWarp::scan_counts(Value round) {
  auto& b = builder_;
  const ScanLanes lanes = count_lanes();
  block_counts_->await(round, lanes);
  const Value sum = b.variable("total", b.real(0));
  lanes.if_any(b, [&] {
    for (int block = 0; block < parameters_.time_split; ++block)
      b.assign(sum, sum + block_counts_->transforms(round, lanes, block).front()[1]);
    b.store(totals_[round % kSlots], sum);
  });
  return b.shuffle("total", sum, kernel::ShuffleMode::Index, b.constant(0));
}

// With two rounds in flight the next round's transform is sent before this round's are waited for: two
// exchanges are under way, and a round may be shorter than one exchange.
void ScanWarp::scan_rounds() {
  auto& b = builder_;
  const Value rounds = kernel_.rounds(), one = b.constant(1);
  if (!parameters_.pipelined()) {
    b.for_("round", b.constant(0), rounds, one, 1, [&](Value round) {
      send(round);
      store_exclusive_prefixes(round);
      scan(round);
      announce(round);
    });
    return;
  }
  b.for_("round", b.constant(0), rounds + 1, one, 1, [&](Value round) {
    b.if_(round < rounds, [&] { send(round); });
    b.if_(round >= 1, [&] {
      scan(round - 1);
      announce(round - 1);
    });
    b.if_(round < rounds, [&] { store_exclusive_prefixes(round); });
  });
}

int ScanWarp::least_registers(const TransformPattern& pattern, int channels) {
  const int words = pattern.entries() * ScanLanes::of(channels).each;
  return words > kFewWords ? 0 : kRegistersBeside + words * (kOwnTransforms + 1);
}

int ScanWarp::threads_of_sm() const {
  return builder_.kernel().min_blocks * round_up(parameters_.computing() + kLanes, 128);
}

void ScanWarp::send(Value round) {
  auto& b = builder_;
  sync_published(round, true);
  b.comment("this block's map, to all blocks that split time with it");
  lanes_.if_any(b, [&] { blocks_->send(round, lanes_, compose(round)); });
}

void ScanWarp::scan(Value round) {
  auto& b = builder_;
  b.comment("the carries before this block's part, and after the round");
  incoming_registers_ = registers("before");
  blocks_->await(round, lanes_);
  lanes_.if_any(b, [&] { scan_blocks(round); });
}

void ScanWarp::announce(Value round) {
  if (counts_) return builder_.named_barrier(kScannedBarrier, parameters_.computing() + kLanes);
  builder_.arrive(scanned_, round % kSlots);
}

std::vector<TransformColumn> ScanWarp::registers(const std::string& name) {
  std::vector<TransformColumn> columns(at(lanes_.each));
  for (TransformColumn& column : columns)
    for (int row = 0; row < states(); ++row) column.rows.push_back(builder_.variable(name, builder_.real(0)));
  return columns;
}

// The composed transform of all segments, by channel.
std::vector<AffineTransform> ScanWarp::compose(Value round) {
  auto& b = builder_;
  std::vector<std::vector<TransformColumn>> composed;
  for (int c = 0; c < lanes_.each; ++c) composed.push_back(identity_transform(b, table_.pattern, "composed"));
  const TransformTable table = segment_transforms(round);
  const int together = loaded_together(table.pattern, lanes_.each, threads_of_sm());
  b.for_("part", 0, table.parts, std::min(together, table.parts), [&](Value part) {
    const std::vector<AffineTransform> transforms = table.load(b, part, lanes_.first, lanes_.each);
    for (std::size_t c = 0; c < transforms.size(); ++c)
      for (const TransformColumn& column : composed[c]) advance(b, transforms[c], column);
  });
  std::vector<AffineTransform> result;
  for (const auto& columns : composed) result.push_back(flat(columns));
  if (counts_) settle(table, result);
  return result;
}

// A part whose segments went in order ends with what the last of them did, be that finite or not.
void ScanWarp::settle(const TransformTable& table, std::vector<AffineTransform>& composed) {
  auto& b = builder_;
  const std::vector<AffineTransform> last =
      table.load(b, b.constant(table.parts - 1), lanes_.first, lanes_.each);
  for (std::size_t c = 0; c < composed.size(); ++c) {
    std::vector<Value> constants;
    for (int i = 0; i < states(); ++i) constants.push_back(composed[c][at(i * (states() + 1) + states())]);
    constants = or_constants(b, last[c], constants);
    for (int i = 0; i < states(); ++i) composed[c][at(i * (states() + 1) + states())] = constants[at(i)];
  }
}

void ScanWarp::scan_blocks(Value round) {
  auto& b = builder_;
  for (const RememberedRounding& walked : walked_) walked.clear();
  std::vector<TransformColumn> reached = carries_;  // with counts: or the constants of the block before
  for (int block = 0; block < parameters_.time_split; ++block) {
    const std::vector<AffineTransform> transforms = blocks_->transforms(round, lanes_, block);
    for (std::size_t c = 0; c < transforms.size(); ++c) {
      for (std::size_t k = 0; k < incoming_registers_[c].rows.size(); ++k)
        b.assign(incoming_registers_[c].rows[k],
                 b.select(kernel_.here().rank == block, reached[c].rows[k], incoming_registers_[c].rows[k]));
      const std::vector<Value> next = apply_transform(b, transforms[c], carries_[c]);
      if (counts_) reached[c].rows = or_constants(b, transforms[c], next);
      if (rounding_) {
        incoming_rounding_[c].take_if(kernel_.here().rank == block, walked_[c]);
        walked_[c].pass(transforms[c], block_steps_, carries_[c].rows, next);
      }
      for (std::size_t k = 0; k < next.size(); ++k) b.assign(carries_[c].rows[k], next[k]);
    }
  }
  for (int i = 0; rounding_ && i < RememberedRounding::entries(states()); ++i)
    for (int c = 0; c < lanes_.each; c += 2)
      b.store_vector(remembered(round, i, lanes_.first + c),
                     {incoming_rounding_[at(c)].all()[at(i)], incoming_rounding_[at(c + 1)].all()[at(i)]});
  for (int row = 0; row < states(); ++row)
    for (int c = 0; c < lanes_.each; c += 2)
      b.store_vector(incoming(round, row, lanes_.first + c), {incoming_registers_[at(c)].rows[at(row)],
                                                              incoming_registers_[at(c + 1)].rows[at(row)]});
}

// Replaces each segment's transform by its exclusive prefix. Transforms are loaded before the first of them
// is overwritten, as the compiler must not move a load above a store.
void ScanWarp::store_exclusive_prefixes(Value round) {
  auto& b = builder_;
  b.comment("of each segment the map of those before it");
  const TransformTable table = segment_transforms(round);
  std::vector<std::vector<TransformColumn>> running;
  for (int c = 0; c < lanes_.each; ++c) running.push_back(identity_transform(b, table_.pattern, "running"));
  const int together = loaded_together(table.pattern, lanes_.each, threads_of_sm());
  const auto group = [&](int first) {
    std::vector<std::vector<AffineTransform>> transforms;
    for (int part = first; part < std::min(first + together, table.parts); ++part)
      transforms.push_back(table.load(b, b.constant(part), lanes_.first, lanes_.each));
    for (std::size_t i = 0; i < transforms.size(); ++i) {
      std::vector<AffineTransform> before;
      for (const auto& columns : running) before.push_back(flat(columns));
      table.store(b, b.constant(first + static_cast<int>(i)), lanes_.first, before);
      for (std::size_t c = 0; c < running.size(); ++c)
        for (const TransformColumn& column : running[c]) advance(b, transforms[i][c], column);
    }
  };
  lanes_.if_any(b, [&] {
    for (int first = 0; first < table.parts; first += together) group(first);
  });
}

}  // namespace rondo::schedule
