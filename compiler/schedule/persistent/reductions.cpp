#include "compiler/schedule/persistent/reductions.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;
using scalar::Op;
using step::NodeId;
using step::NodeKind;

namespace {

Value square(kernel::Builder& b, Value value) { return b.math(Op::Square, {value}); }

}  // namespace

ReductionExchange::ReductionExchange(PersistentKernel& kernel, const step::Graph& graph,
                                     const std::vector<ReductionStage>& stages, bool multiplies)
    : kernel_(kernel), geometry_(kernel.geometry()) {
  for (const ReductionStage& of : stages) {
    Stage& stage = stages_.emplace_back();
    const PersistentGeometry& g = geometry_;
    if (g.warps > 1 && (g.p.blocks == 1 || by_block(g)))
      stage.meetings.push_back(
          {g.warps, channels_of_line(), true, g.p.blocks == 1 && !of.early && multiplies ? 1 : 2, {}, {}, 0});
    if (g.p.blocks > 1)
      stage.meetings.push_back(
          {team_lines(g), by_block(g) ? g.units : channels_of_line(), false, 2, {}, {}, 0});
    for (const NodeId id : of.nodes) stage.words.push_back({&graph.at(id), id, 0});
    for (Word& word : stage.words) {
      if (word.node->kind != NodeKind::ReduceSpread) continue;
      const auto sum = std::find_if(stage.words.begin(), stage.words.end(),
                                    [&](const Word& other) { return other.id == word.node->operands[0]; });
      if (sum == stage.words.end()) throw std::logic_error("persistent: a spread without its sum");
      word.sum = static_cast<std::size_t>(sum - stage.words.begin());
    }
  }
}

std::int64_t ReductionExchange::slot_words(const PersistentGeometry& geometry,
                                           const std::vector<int>& stages) {
  std::int64_t words = 0;
  for (const int of_stage : stages)
    words += std::int64_t{4} * geometry.p.batch_tiles * team_lines(geometry) * padded(of_stage);
  return words;
}

void ReductionExchange::declare() {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  for (Stage& stage : stages_)
    for (Meeting& meeting : stage.meetings) {
      if (g.in_grid() && !meeting.in_block) continue;
      const auto number = &stage - stages_.data();
      const auto words = static_cast<std::int64_t>(stage.words.size());
      meeting.memory = b.shared(
          fmt::format("{}reduced_{}", of_block_of_team(meeting) ? "block_" : "", number),
          kernel::Storage::F32, std::int64_t{meeting.slots} * g.p.batch_tiles * meeting.lines * 4 * words * 2,
          fmt::format("[{}, batch tiles {}, lines {}, quarters 4, words {}, 2]", meeting.slots,
                      g.p.batch_tiles, meeting.lines, words));
      if (!meeting.in_block)
        meeting.arrived = b.mbarrier(fmt::format("lines_{}", number), 2, 1, "parts of reductions have come");
    }
}

void ReductionExchange::begin(const GridRing& ring) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  if (!any()) return;
  if (!g.exact()) {
    const auto share = [&](const std::string& name, Value first, int most) {
      const Value channels = b.let(name + "_channels", min(b.constant(g.dim) - first, b.constant(most)));
      return b.let(name + "_share", b.select(channels < 1, b.real(0), b.real(1) / b.to_real(channels)));
    };
    share_of_warp_ =
        share("warp", kernel_.first_unit() + kernel_.warp() * channels_of_line(), channels_of_line());
    if (by_block(g)) share_of_block_ = share("block", kernel_.first_unit(), g.units);
  }
  if (g.in_grid()) {
    ring_ = &ring;
    int widest = 0;
    std::int64_t first = ring.words();
    for (const Stage& stage : stages_) first -= slot_words(g, {static_cast<int>(stage.words.size())});
    for (Stage& stage : stages_) {
      stage.meetings.back().first = first;
      first += slot_words(g, {static_cast<int>(stage.words.size())});
      widest = std::max(widest, padded(static_cast<int>(stage.words.size())));
    }
    collected_ =
        b.array("collected_lines", kernel::Type::F32, widest * ((team_lines(g) + kGroups - 1) / kGroups));
  }
  if (!g.in_cluster()) return;
  b.comment("parts of reductions of the first two steps");
  b.if_(b.thread() == 0, [&] {
    for (const Stage& stage : stages_)
      for (int slot = 0; slot < 2; ++slot) expect(stage, b.constant(slot));
  });
}

void ReductionExchange::expect(const Stage& stage, Value slot) const {
  auto& b = kernel_.builder();
  const auto words = static_cast<std::int64_t>(stage.words.size());
  const Meeting& meeting = stage.meetings.back();
  b.expect(meeting.arrived, slot, b.constant(geometry_.p.batch_tiles * meeting.lines * 4 * words * 2 * 4));
}

void ReductionExchange::reduce(std::size_t number, Value count, const ValueOf& value) {
  const Stage& stage = stages_[number];
  const PersistentGeometry& g = geometry_;
  std::vector<Parts> totals;
  for (int tile = 0; tile < g.p.batch_tiles; ++tile) totals.push_back(of_warp(stage, tile, value));
  for (const Meeting& meeting : stage.meetings) meet(stage, meeting, count, totals);
  for (std::size_t word = 0; word < stage.words.size(); ++word) {
    const Word& of = stage.words[word];
    std::vector<Value>& rows = results_[of.id];
    rows.clear();
    for (const Parts& parts : totals)
      for (int row = 0; row < 2; ++row) {
        const std::string& label = of.node->label;
        rows.push_back(kernel_.builder().let(label.empty() ? "reduced" : label, parts[2 * word + at(row)]));
      }
  }
}

Value ReductionExchange::value(NodeId node, int channel) const {
  return results_.at(node)[at(2 * geometry_.tile_of(channel) + channel % 2)];
}

Value ReductionExchange::combine(const Word& word, Value a, Value b) const {
  return word.node->kind == NodeKind::ReduceMax ? kernel_.builder().math(Op::Max, {a, b}) : a + b;
}

Value ReductionExchange::neutral(const Word& word) const {
  const double lowest = -static_cast<double>(std::numeric_limits<float>::max());
  return kernel_.builder().real(word.node->kind == NodeKind::ReduceMax ? lowest : 0);
}

// ---- within a warp ----

Value ReductionExchange::masked(Value value, int channel, double otherwise) const {
  const Value exists = kernel_.unit_exists(geometry_.unit_of(channel));
  return exists.valid() ? kernel_.builder().select(exists, value, kernel_.builder().real(otherwise)) : value;
}

// All but the spreads.
ReductionExchange::Parts ReductionExchange::of_thread(const Stage& stage, int tile,
                                                      const ValueOf& value) const {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  Parts parts(2 * stage.words.size());
  for (std::size_t word = 0; word < stage.words.size(); ++word) {
    const Word& of = stage.words[word];
    if (of.node->kind == NodeKind::ReduceSpread) continue;
    for (int row = 0; row < 2; ++row) {
      Value& part = parts[2 * word + at(row)];
      for (int unit = 0; unit < g.p.unit_blocks; ++unit) {
        const int channel = (unit * g.p.batch_tiles + tile) * 2 + row;
        Value own = value(of.node->operands[0], channel);
        if (const Value exists = kernel_.unit_exists(unit); exists.valid())
          own = b.select(exists, own, neutral(of));
        part = unit == 0 ? own : combine(of, part, own);
      }
      part = b.let("part", part);
    }
  }
  return parts;
}

Value ReductionExchange::spread_of_thread(const Word& word, int tile, int row, Value mean,
                                          const ValueOf& value) const {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  Value spread;
  for (int unit = 0; unit < g.p.unit_blocks; ++unit)
    for (std::size_t vector = 1; vector < word.node->operands.size(); ++vector) {
      const int channel = (unit * g.p.batch_tiles + tile) * 2 + row;
      const Value distance =
          b.let("distance", masked(value(word.node->operands[vector], channel) - mean, channel, 0));
      spread = spread.valid() ? b.math(Op::Fma, {distance, distance, spread}) : square(b, distance);
    }
  return spread;
}

ReductionExchange::Parts ReductionExchange::of_warp(const Stage& stage, int tile,
                                                    const ValueOf& value) const {
  Parts parts = of_thread(stage, tile, value);
  const Lanes lanes{geometry_.exact(), static_cast<double>(geometry_.p.unit_blocks), share_of_warp_};
  across_lanes(stage, parts, lanes, [&](const Word& word, int row, Value mean) {
    return spread_of_thread(word, tile, row, mean, value);
  });
  return parts;
}

// Lanes with equally many channels combine their moments pair by pair; the two of a pair compute the same
// bits. Otherwise the mean of all comes first, and spreads around it add up.
void ReductionExchange::across_lanes(const Stage& stage, Parts& parts, const Lanes& lanes,
                                     const Around& around) const {
  auto& b = kernel_.builder();
  const auto spreads = [&](Value share, double of_share) {
    for (std::size_t word = 0; word < stage.words.size(); ++word) {
      const Word& of = stage.words[word];
      if (of.node->kind != NodeKind::ReduceSpread) continue;
      for (int row = 0; row < 2; ++row) {
        const Value factor =
            share.valid() ? share * b.real(1 / of.rows()) : b.real(1 / (of_share * of.rows()));
        const Value mean = b.let("mean", parts[2 * of.sum + at(row)] * factor);
        parts[2 * word + at(row)] = b.let("spread", around(of, row, mean));
      }
    }
  };
  const auto sum_up = [&](bool of_spreads) {
    for (int distance = 4; distance < 32; distance *= 2)
      for (std::size_t word = 0; word < stage.words.size(); ++word)
        for (int row = 0; row < 2; ++row) {
          if ((stage.words[word].node->kind == NodeKind::ReduceSpread) != of_spreads) continue;
          Value& part = parts[2 * word + at(row)];
          const Value other = b.shuffle("other", part, kernel::ShuffleMode::Xor, b.constant(distance));
          part = b.let("part", combine(stage.words[word], part, other));
        }
  };
  if (lanes.even) {
    spreads({}, lanes.of_lane);
    for (int distance = 4, lane = 1; distance < 32; distance *= 2, lane *= 2)
      exchange_lanes(stage, parts, distance, lanes.of_lane * lane);
    return;
  }
  sum_up(false);
  spreads(lanes.share, 0);
  sum_up(true);
}

// `of_lane`: channels that a lane stands for so far.
void ReductionExchange::exchange_lanes(const Stage& stage, Parts& parts, int distance, double of_lane) const {
  auto& b = kernel_.builder();
  Parts others;
  for (const Value part : parts)
    others.push_back(b.shuffle("other", part, kernel::ShuffleMode::Xor, b.constant(distance)));
  for (std::size_t word = 0; word < stage.words.size(); ++word) {
    const Word& of = stage.words[word];
    if (of.node->kind != NodeKind::ReduceSpread) continue;
    for (int row = 0; row < 2; ++row) {
      const std::size_t i = 2 * word + at(row), sum = 2 * of.sum + at(row);
      const Value apart = b.let("apart", others[sum] - parts[sum]);
      const Value both = parts[i] + others[i];
      parts[i] =
          b.let("spread", b.math(Op::Fma, {square(b, apart), b.real(1 / (2 * of_lane * of.rows())), both}));
    }
  }
  for (std::size_t word = 0; word < stage.words.size(); ++word)
    for (int row = 0; row < 2; ++row) {
      const std::size_t i = 2 * word + at(row);
      if (stage.words[word].node->kind != NodeKind::ReduceSpread)
        parts[i] = b.let("part", combine(stage.words[word], parts[i], others[i]));
    }
}

}  // namespace rondo::schedule
