#include "compiler/schedule/stream/carry.h"

#include <fmt/format.h>

#include "compiler/schedule/stream/cluster.h"
#include "compiler/schedule/stream/grid.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Storage;
using kernel::Value;

namespace {

constexpr int kLanes = 32;
constexpr int kTogether = 16;  // maps loaded side by side

}  // namespace

CarryLanes CarryLanes::of(int channels) {
  CarryLanes lanes;
  lanes.each = (channels + 2 * kLanes - 1) / (2 * kLanes) * 2;
  lanes.lanes = channels / lanes.each;
  return lanes;
}

void CarryLanes::if_any(kernel::Builder& b, const std::function<void()>& action) const {
  lanes == kLanes ? action() : b.if_(lane < lanes, action);
}

CarryWarp::CarryWarp(StreamKernel& kernel, const StreamParameters& parameters, const step::Cell& cell)
    : kernel_(kernel), builder_(kernel.builder()), parameters_(parameters), cell_(cell) {
  auto& b = builder_;
  const StreamParameters& p = parameters;
  table_ = {{}, p.segments, static_cast<int>(cell.next.size()), p.channels, {}};
  table_.memory = b.shared("segment_maps", Storage::F32, kSlots * table_.elements(),
                           fmt::format("[slots {}, segments {}, entries {}, channels {}, 2]", kSlots,
                                       p.segments, MapTable::entries(states()) / 2, p.channels));
  befores_ = b.shared("befores", Storage::F32, std::int64_t{kSlots} * states() * p.channels,
                      fmt::format("[slots {}, rows {}, channels {}]", kSlots, states(), p.channels));
  followed_ = b.mbarrier("followed", kSlots, kLanes, "what the block's part starts from is there");
  if (p.through_global())
    blocks_ = std::make_unique<GridMaps>(kernel, p, states());
  else
    blocks_ = std::make_unique<ClusterMaps>(kernel, p, states());
}

void CarryWarp::publish(Value round, const std::vector<FlatMap>& maps) {
  auto& b = builder_;
  b.comment("this segment's map, for the warp that follows the carries");
  segment_maps(round).store(b, kernel_.segment(), kernel_.lane_channel(), maps);
  meet_published(round, false);
}

void CarryWarp::meet_published(Value round, bool waits) {
  auto& b = builder_;
  const auto meet = [&](int barrier) { b.named_barrier(barrier, parameters_.computing() + kLanes, waits); };
  if (!parameters_.pipelined()) return meet(kPublishedBarrier);
  b.if_(
      round % 2 == 0, [&] { meet(kPublishedBarrier); }, [&] { meet(kPublishedBarrier + 1); });
}

kernel::Place CarryWarp::before(Value round, int row, Value channel) {
  return befores_[(round % kSlots * states() + row) * parameters_.channels + channel];
}

std::vector<Value> CarryWarp::starts(Value round) {
  auto& b = builder_;
  b.comment("the carry before the block's part, and the segments before this one");
  b.wait(followed_, round % kSlots, round / kSlots % 2);
  const int channels = parameters_.per_thread;
  std::vector<MapColumn> columns(at(channels));
  for (int row = 0; row < states(); ++row) {
    const std::vector<Value> loaded =
        b.load_vector("before", before(round, row, kernel_.lane_channel()), channels);
    for (int c = 0; c < channels; ++c) columns[at(c)].rows.push_back(loaded[at(c)]);
  }
  const std::vector<FlatMap> maps =
      segment_maps(round).load(b, kernel_.segment(), kernel_.lane_channel(), channels);
  for (int c = 0; c < channels; ++c) columns[at(c)].rows = apply_map(b, maps[at(c)], columns[at(c)]);
  std::vector<Value> values;
  for (int row = 0; row < states(); ++row)
    for (int c = 0; c < channels; ++c) values.push_back(columns[at(c)].rows[at(row)]);
  return values;
}

void CarryWarp::each_carry(const std::function<void(const step::Row&, Value place, Value carry)>& body) {
  for (int c = 0; c < lanes_.each; ++c)
    kernel_.if_channel_exists(lanes_.first + c, [&](Value channel) {
      for (std::size_t k = 0; k < cell_.next.size(); ++k) {
        const step::Row& row = cell_.next[k];
        const int rows = cell_.tensors[static_cast<std::size_t>(row.tensor)].rows;
        body(row, kernel_.state_index(rows, row.row, channel), carries_[at(c)].rows[k]);
      }
    });
}

void CarryWarp::role(const CarryEnds& ends) {
  auto& b = builder_;
  lanes_ = CarryLanes::of(parameters_.channels);
  lanes_.lane = b.let("lane", b.thread() % kLanes);
  lanes_.first = b.let("followed", lanes_.lane * lanes_.each);
  carries_ = registers("carry");
  b.named_barrier(kFollowingBarrier, kLanes);  // for racecheck: stream_carry.h
  b.comment("first carries");
  lanes_.if_any(b, [&] {
    each_carry([&](const step::Row& row, Value place, Value carry) {
      b.assign(carry, b.load("first", ends.first.at(row.tensor).memory[place]));
    });
  });
  follow_rounds();
  b.if_(kernel_.rank() == 0, [&] {
    b.comment(ends.what);
    lanes_.if_any(b, [&] {
      each_carry([&](const step::Row& row, Value place, Value carry) {
        b.store(ends.last.at(row.tensor).memory[place], carry);
      });
    });
  });
}

// Where a round is finished in the next one, the next one's maps are sent before this one's are waited for:
// two exchanges are under way, and a round may be shorter than one of them.
void CarryWarp::follow_rounds() {
  auto& b = builder_;
  const Value rounds = kernel_.rounds(), one = b.constant(1);
  if (!parameters_.pipelined()) {
    b.for_("round", b.constant(0), rounds, one, 1, [&](Value round) {
      send(round);
      store_maps_before(round);
      follow(round);
    });
    return;
  }
  b.for_("round", b.constant(0), rounds + 1, one, 1, [&](Value round) {
    b.if_(round < rounds, [&] { send(round); });
    b.if_(round >= 1, [&] { follow(round - 1); });
    b.if_(round < rounds, [&] { store_maps_before(round); });
  });
}

void CarryWarp::send(Value round) {
  auto& b = builder_;
  meet_published(round, true);
  b.comment("this block's map, to all blocks that split time with it");
  lanes_.if_any(b, [&] { blocks_->send(round, lanes_, compose(round)); });
}

void CarryWarp::follow(Value round) {
  auto& b = builder_;
  b.comment("the carries before this block's part, and after the round");
  before_ = registers("before");
  blocks_->await(round, lanes_);
  lanes_.if_any(b, [&] { follow_blocks(round); });
  b.arrive(followed_, round % kSlots);
}

std::vector<MapColumn> CarryWarp::registers(const std::string& name) {
  std::vector<MapColumn> columns(at(lanes_.each));
  for (MapColumn& column : columns)
    for (int row = 0; row < states(); ++row) column.rows.push_back(builder_.variable(name, builder_.real(0)));
  return columns;
}

// The map of all segments, by channel.
std::vector<FlatMap> CarryWarp::compose(Value round) {
  auto& b = builder_;
  std::vector<std::vector<MapColumn>> composed;
  for (int c = 0; c < lanes_.each; ++c) composed.push_back(identity_map(b, states(), "composed"));
  const MapTable table = segment_maps(round);
  b.for_("part", 0, table.parts, std::min(kTogether, table.parts), [&](Value part) {
    const std::vector<FlatMap> maps = table.load(b, part, lanes_.first, lanes_.each);
    for (std::size_t c = 0; c < maps.size(); ++c)
      for (const MapColumn& column : composed[c]) follow_map(b, maps[c], column);
  });
  std::vector<FlatMap> result;
  for (const auto& columns : composed) result.push_back(flat(columns));
  return result;
}

void CarryWarp::follow_blocks(Value round) {
  auto& b = builder_;
  for (int block = 0; block < parameters_.time_split; ++block) {
    const std::vector<FlatMap> maps = blocks_->maps(round, lanes_, block);
    for (std::size_t c = 0; c < maps.size(); ++c) {
      for (std::size_t k = 0; k < before_[c].rows.size(); ++k)
        b.assign(before_[c].rows[k],
                 b.select(kernel_.rank() == block, carries_[c].rows[k], before_[c].rows[k]));
      follow_map(b, maps[c], carries_[c]);
    }
  }
  for (int row = 0; row < states(); ++row)
    for (int c = 0; c < lanes_.each; c += 2)
      b.store_vector(before(round, row, lanes_.first + c),
                     {before_[at(c)].rows[at(row)], before_[at(c + 1)].rows[at(row)]});
}

// In the place of each segment's map, that of the segments before it. Maps are loaded before the first of
// them is overwritten: the compiler must not move a load above a store.
void CarryWarp::store_maps_before(Value round) {
  auto& b = builder_;
  b.comment("of each segment the map of those before it");
  const MapTable table = segment_maps(round);
  std::vector<std::vector<MapColumn>> running;
  for (int c = 0; c < lanes_.each; ++c) running.push_back(identity_map(b, states(), "running"));
  const auto group = [&](int first) {
    std::vector<std::vector<FlatMap>> maps;
    for (int part = first; part < std::min(first + kTogether, table.parts); ++part)
      maps.push_back(table.load(b, b.constant(part), lanes_.first, lanes_.each));
    for (std::size_t i = 0; i < maps.size(); ++i) {
      std::vector<FlatMap> before;
      for (const auto& columns : running) before.push_back(flat(columns));
      table.store(b, b.constant(first + static_cast<int>(i)), lanes_.first, before);
      for (std::size_t c = 0; c < running.size(); ++c)
        for (const MapColumn& column : running[c]) follow_map(b, maps[i][c], column);
    }
  };
  lanes_.if_any(b, [&] {
    for (int first = 0; first < table.parts; first += kTogether) group(first);
  });
}

}  // namespace rondo::schedule
