#include "compiler/schedule/persistent/reductions.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

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
      const auto sum = std::ranges::find_if(
          stage.words, [&](const Word& other) { return other.id == word.node->operands[0]; });
      if (sum == stage.words.end()) throw std::logic_error("persistent: a spread without its sum");
      word.sum = at(sum - stage.words.begin());
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
    share_of_warp_ = share("warp", kernel_.here().first_unit + kernel_.here().warp * channels_of_line(),
                           channels_of_line());
    if (by_block(g)) share_of_block_ = share("block", kernel_.here().first_unit, g.units);
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
    collected_ = b.array("collected_lines", kernel::Type::F32, widest * ceil_div(team_lines(g), kGroups));
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
        rows.push_back(kernel_.builder().let(label.empty() ? "reduced" : label,
                                             parts[at(row) * stage.words.size() + word]));
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
  const Value exists = kernel_.threads().unit_exists(geometry_.unit_of(channel));
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
      Value& part = parts[at(row) * stage.words.size() + word];
      for (int unit = 0; unit < g.p.unit_blocks; ++unit) {
        const int channel = (unit * g.p.batch_tiles + tile) * 2 + row;
        Value own = value(of.node->operands[0], channel);
        if (const Value exists = kernel_.threads().unit_exists(unit); exists.valid())
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
  // In a team of blocks registers are short: there lanes that read whole lines afterwards do not share rows.
  const bool shared = !stage.meetings.empty() && stage.meetings.front().in_block &&
                      (geometry_.p.blocks == 1 || stage.meetings.front().lines > kMostOfThread);
  const Lanes lanes{geometry_.exact(), static_cast<double>(geometry_.p.unit_blocks), share_of_warp_,
                    shared && geometry_.exact()};
  across_lanes(stage, parts, lanes, [&](const Word& word, int row, Value mean) {
    return spread_of_thread(word, tile, row, mean, value);
  });
  return parts;
}

// Lanes with equally many channels combine their moments pair by pair; the two of a pair compute the same
// bits. Otherwise the mean of all comes first, and spreads around it add up.
void ReductionExchange::across_lanes(const Stage& stage, Parts& parts, const Lanes& lanes,
                                     const Around& around) const {
  if (!lanes.even) {
    sum_up(stage, parts, false);
    spreads_around(stage, parts, lanes, around);
    return sum_up(stage, parts, true);
  }
  spreads_around(stage, parts, lanes, around);
  double of_lane = lanes.of_lane;
  if (lanes.split) {
    parts = split_rows(stage, parts, of_lane);
    of_lane *= 2;
  }
  for (int distance = rows_of(stage, parts) == 2 ? 4 : 8; distance < 32; distance *= 2, of_lane *= 2) {
    Parts others;
    for (const Value part : parts) others.push_back(other_lanes(part, distance));
    parts = combined(stage, parts, others, of_lane);
  }
}

void ReductionExchange::spreads_around(const Stage& stage, Parts& parts, const Lanes& lanes,
                                       const Around& around) const {
  auto& b = kernel_.builder();
  for (std::size_t word = 0; word < stage.words.size(); ++word) {
    const Word& of = stage.words[word];
    if (of.node->kind != NodeKind::ReduceSpread || (lanes.even && lanes.of_lane * of.rows() == 1)) continue;
    for (std::size_t row = 0; row < rows_of(stage, parts); ++row) {
      const Value factor =
          lanes.even ? b.real(1 / (lanes.of_lane * of.rows())) : lanes.share * b.real(1 / of.rows());
      const Value mean = b.let("mean", parts[row * stage.words.size() + of.sum] * factor);
      parts[row * stage.words.size() + word] = b.let("spread", around(of, static_cast<int>(row), mean));
    }
  }
}

// Adds up the spreads of all lanes, or all that is no spread.
void ReductionExchange::sum_up(const Stage& stage, Parts& parts, bool of_spreads) const {
  auto& b = kernel_.builder();
  for (int distance = rows_of(stage, parts) == 2 ? 4 : 8; distance < 32; distance *= 2)
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Word& of = stage.words[i % stage.words.size()];
      if ((of.node->kind == NodeKind::ReduceSpread) != of_spreads) continue;
      parts[i] = b.let("part", combine(of, parts[i], other_lanes(parts[i], distance)));
    }
}

Value ReductionExchange::other_lanes(Value part, int distance) const {
  auto& b = kernel_.builder();
  return part.valid() ? b.shuffle("other", part, kernel::ShuffleMode::Xor, b.constant(distance)) : part;
}

// Of two parts with `of_part` channels each.
ReductionExchange::Parts ReductionExchange::combined(const Stage& stage, const Parts& a, const Parts& b,
                                                     double of_part) const {
  auto& builder = kernel_.builder();
  Parts both(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Word& of = stage.words[i % stage.words.size()];
    if (of.node->kind != NodeKind::ReduceSpread) {
      both[i] = builder.let("part", combine(of, a[i], b[i]));
      continue;
    }
    const std::size_t sum = i / stage.words.size() * stage.words.size() + of.sum;
    const Value apart = square(builder, builder.let("apart", b[sum] - a[sum]));
    const Value share = builder.real(1 / (2 * of_part * of.rows()));
    both[i] = builder.let("spread",
                          a[i].valid() ? builder.math(Op::Fma, {apart, share, a[i] + b[i]}) : apart * share);
  }
  return both;
}

// Combines each lane's row with that of the neighbouring group, which gets the other row.
ReductionExchange::Parts ReductionExchange::split_rows(const Stage& stage, const Parts& parts,
                                                       double of_lane) const {
  auto& b = kernel_.builder();
  const Value second = kernel_.here().group % 2 == 1;
  Parts kept, others;
  for (std::size_t word = 0; word < stage.words.size(); ++word) {
    const Value row_0 = parts[word], row_1 = parts[stage.words.size() + word];
    const bool valid = row_0.valid();
    kept.push_back(valid ? b.let("kept", b.select(second, row_1, row_0)) : row_0);
    others.push_back(valid ? other_lanes(b.let("given", b.select(second, row_0, row_1)), 4) : row_0);
  }
  return combined(stage, kept, others, of_lane);
}

// Of parts of the lane's row: those of both.
ReductionExchange::Parts ReductionExchange::both_rows(const Parts& of_row) const {
  auto& b = kernel_.builder();
  const Value second = kernel_.here().group % 2 == 1;
  Parts first_rows, second_rows;
  for (const Value part : of_row) {
    const Value other = other_lanes(part, 4);
    first_rows.push_back(b.let("of_row_0", b.select(second, other, part)));
    second_rows.push_back(b.let("of_row_1", b.select(second, part, other)));
  }
  first_rows.insert(first_rows.end(), second_rows.begin(), second_rows.end());
  return first_rows;
}

}  // namespace rondo::schedule
