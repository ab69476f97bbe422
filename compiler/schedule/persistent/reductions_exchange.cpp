// How the lines of all warps of a team meet, and how they are added up.
#include <algorithm>
#include <functional>

#include "compiler/schedule/persistent/reductions.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;
using scalar::Op;
using step::NodeKind;

namespace {

// Neighbours first, so that the chain of additions is short.
Value in_pairs(std::vector<Value> rest, const std::function<Value(Value, Value)>& both = std::plus<>()) {
  while (rest.size() > 1) {
    std::vector<Value> pairs;
    for (std::size_t k = 0; k + 1 < rest.size(); k += 2) pairs.push_back(both(rest[k], rest[k + 1]));
    if (rest.size() % 2 == 1) pairs.push_back(rest.back());
    rest = std::move(pairs);
  }
  return rest[0];
}

}  // namespace

Value HeadReductions::place(const Stage& stage, int tile, Value line, Value count) const {
  const PersistentGeometry& g = geometry_;
  const int words = 2 * static_cast<int>(stage.words.size());
  Value first = (line * 4 + kernel_.quarter()) * words + tile * lines(g) * 4 * words;
  if (stage.slots > 1) first = first + count % 2 * (g.p.batch_tiles * lines(g) * 4 * words);
  return first;
}

void HeadReductions::hand_over(const Stage& stage, int tile, Value count, const Parts& parts) const {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  if (g.in_grid()) return send_to_grid(stage, tile, count % ring_->slots(), parts);
  const Value line = g.in_cluster() ? kernel_.rank() * g.warps + kernel_.warp() : kernel_.warp();
  const Value to = b.let("line", place(stage, tile, line, count));
  const std::size_t piece = parts.size() % 4 == 0 ? 4 : 2;
  const auto pieces = [&](const std::function<void(Value, const std::vector<Value>&)>& put) {
    for (std::size_t first = 0; first < parts.size(); first += piece)
      put(to + static_cast<std::int64_t>(first),
          {parts.begin() + static_cast<std::ptrdiff_t>(first),
           parts.begin() + static_cast<std::ptrdiff_t>(first + piece)});
  };
  if (!g.in_cluster())
    return b.if_(kernel_.group() == 0, [&] {
      pieces([&](Value at, const std::vector<Value>& words) { b.store_vector(stage.lines[at], words); });
    });
  // All lanes of a pair of batch rows have the warp's parts: each sends them to other blocks.
  for (int first = 0; first < g.p.blocks; first += kGroups) {
    const Value peer = kernel_.group() + first;
    const auto send = [&] {
      pieces([&](Value at, const std::vector<Value>& words) {
        b.store_async(stage.lines[at], words, peer, stage.arrived, count % 2);
      });
    };
    if (g.p.blocks - first >= kGroups)
      send();
    else
      b.if_(peer < g.p.blocks, send);
  }
}

// `parts`: or no values, to clear the words.
void HeadReductions::send_to_grid(const Stage& stage, int tile, Value slot, const Parts& parts) const {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const int words = padded(static_cast<int>(stage.words.size()));
  const Value line = kernel_.rank() * g.warps + kernel_.warp();
  const Value first =
      (line * 4 + kernel_.quarter()) * words + (stage.first + std::int64_t{tile} * lines(g) * 4 * words);
  b.if_(kernel_.group() == 0, [&] {
    for (int i = 0; i < words; i += 4) {
      std::vector<Value> piece;
      for (int word = i; word < i + 4; ++word) {
        const bool exists = at(word) < parts.size();
        piece.push_back(parts.empty() ? b.constant(kernel::kEmpty) : exists ? parts[at(word)] : b.real(0));
      }
      b.store_self_flagged(ring_->at(kernel_, slot, first + i), piece);
    }
  });
}

void HeadReductions::wait(const Stage& stage, Value count) const {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  if (g.in_grid()) return;  // the words say when they are there
  if (g.in_cluster()) return b.wait(stage.arrived, count % 2, count / 2 % 2);
  b.named_barrier(kReduceBarrier, 32 * g.warps);
}

HeadReductions::Parts HeadReductions::load_line(const Stage& stage, Value place) const {
  auto& b = kernel_.builder();
  const int words = 2 * static_cast<int>(stage.words.size());
  const int piece = words % 4 == 0 ? 4 : 2;
  Parts parts;
  for (int first = 0; first < words; first += piece) {
    const std::vector<Value> values = b.load_vector("of_line", stage.lines[place + first], piece);
    parts.insert(parts.end(), values.begin(), values.end());
  }
  return parts;
}

// All but the spreads.
HeadReductions::Parts HeadReductions::sums_of(const Stage& stage, const std::vector<Parts>& lines) const {
  Parts total(2 * stage.words.size());
  for (std::size_t word = 0; word < stage.words.size(); ++word) {
    if (stage.words[word].node->kind == NodeKind::ReduceSpread) continue;
    for (std::size_t i = 2 * word; i < 2 * word + 2; ++i) {
      std::vector<Value> rest;
      for (const Parts& line : lines) rest.push_back(line[i]);
      const auto both = [&](Value a, Value b) { return combine(stage.words[word], a, b); };
      total[i] = kernel_.builder().let("part", in_pairs(rest, both));
    }
  }
  return total;
}

HeadReductions::Parts HeadReductions::all_lines(const Stage& stage, int tile, Value count) const {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const auto channels = [&](int line) {
    return static_cast<double>(
        std::min<std::int64_t>(channels_of_line(), g.dim - std::int64_t{line} * channels_of_line()));
  };
  std::vector<Parts> loaded;
  for (int line = 0; line < lines(g) && channels(line) > 0; ++line)
    loaded.push_back(load_line(stage, place(stage, tile, b.constant(line), count)));
  Parts total = sums_of(stage, loaded);
  for (std::size_t word = 0; word < stage.words.size(); ++word) {
    const Word& of = stage.words[word];
    if (of.node->kind != NodeKind::ReduceSpread) continue;
    for (int row = 0; row < 2; ++row) {
      const std::size_t i = 2 * word + at(row), sum = 2 * of.sum + at(row);
      const Value mean = b.let("mean", total[sum] * b.real(1 / (static_cast<double>(g.dim) * of.rows())));
      std::vector<Value> within, between;
      for (std::size_t line = 0; line < loaded.size(); ++line) {
        const double count_of = channels(static_cast<int>(line)) * of.rows();
        const Value off = b.let("off", loaded[line][sum] * b.real(1 / count_of) - mean);
        within.push_back(loaded[line][i]);
        between.push_back(b.math(Op::Square, {off}) * b.real(count_of));
      }
      total[i] = in_pairs(within) + in_pairs(between);
    }
  }
  return total;
}

// Line g, g + 8 and so on of the lanes of group g.
std::vector<HeadReductions::Parts> HeadReductions::load_by_lane(const Stage& stage, int tile, Value count) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const int all = lines(g), turns = (all + kGroups - 1) / kGroups;
  const auto line_of = [&](int turn) {
    const Value line = kernel_.group() + turn * kGroups;
    return (turn + 1) * kGroups <= all ? line : min(line, b.constant(all - 1));
  };
  std::vector<Parts> loaded;
  if (!g.in_grid()) {
    for (int turn = 0; turn < turns; ++turn)
      loaded.push_back(load_line(stage, place(stage, tile, line_of(turn), count)));
    return loaded;
  }
  const int words = padded(static_cast<int>(stage.words.size()));
  const auto from = [&](int turn, int piece) {
    const Value first = (line_of(turn) * 4 + kernel_.quarter()) * words;
    return ring_->at(kernel_, count % ring_->slots(),
                     first + (stage.first + std::int64_t{tile} * all * 4 * words + piece));
  };
  const int whole = all / kGroups;
  for (int piece = 0; piece < words; piece += 4) {
    const int first = piece * turns;
    if (whole > 0)
      b.load_self_flagged(collected_, b.constant(first), whole, from(0, piece),
                          b.constant(kGroups * 4 * words));
    if (whole < turns)
      b.load_self_flagged(collected_, b.constant(first + 4 * whole), 1, from(whole, piece), b.constant(0));
  }
  for (int turn = 0; turn < turns; ++turn) {
    Parts& parts = loaded.emplace_back();
    for (int i = 0; i < 2 * static_cast<int>(stage.words.size()); ++i)
      parts.push_back(b.let("of_line", b.read(collected_, b.constant(i / 4 * 4 * turns + turn * 4 + i % 4))));
  }
  return loaded;
}

HeadReductions::Parts HeadReductions::lines_by_lane(const Stage& stage, int tile, Value count) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const int all = lines(g);
  std::vector<Parts> loaded = load_by_lane(stage, tile, count);
  // A lane that has no line of the last turn has loaded another's.
  for (std::size_t word = 0; all % kGroups != 0 && word < stage.words.size(); ++word)
    for (std::size_t i = 2 * word; i < 2 * word + 2; ++i)
      loaded.back()[i] = b.let(
          "of_line", b.select(kernel_.group() < all % kGroups, loaded.back()[i], neutral(stage.words[word])));
  Parts total = sums_of(stage, loaded);
  const auto is_full = [&](std::size_t turn) { return g.exact() && (turn + 1) * kGroups <= at(all); };
  const auto channels = [&](std::size_t turn) {
    const Value line = kernel_.group() + static_cast<std::int64_t>(turn) * kGroups;
    const Value left = b.constant(g.dim) - line * channels_of_line();
    return b.to_real(min(b.select(left < 0, b.constant(0), left), b.constant(channels_of_line())));
  };
  const bool even = g.exact() && all % kGroups == 0;
  const Lanes lanes{even, static_cast<double>(channels_of_line()) * all / kGroups,
                    b.real(1 / static_cast<double>(g.dim))};
  across_lanes(stage, total, lanes, [&](const Word& word, int row, Value mean) {
    const auto index = static_cast<std::size_t>(&word - stage.words.data());
    const std::size_t i = 2 * index + at(row), sum = 2 * word.sum + at(row);
    Value spread;
    for (std::size_t turn = 0; turn < loaded.size(); ++turn) {
      Value of = b.real(channels_of_line() * word.rows()), own;
      if (is_full(turn)) {
        own = loaded[turn][sum] * b.real(1 / (channels_of_line() * word.rows()));
      } else {
        of = b.let("numbers", channels(turn) * b.real(word.rows()));
        own = loaded[turn][sum] / b.math(Op::Max, {of, b.real(1)});
      }
      const Value off = b.let("off", own - mean);
      const Value part = loaded[turn][i] + b.math(Op::Square, {off}) * of;
      spread = spread.valid() ? spread + part : part;
    }
    return spread;
  });
  return total;
}

void HeadReductions::clear_sent(Value count) {
  if (!any() || !geometry_.in_grid()) return;
  clear_slots(kernel_, *ring_, count, [&](Value slot) {
    for (const Stage& stage : stages_)
      for (int tile = 0; tile < geometry_.p.batch_tiles; ++tile) send_to_grid(stage, tile, slot, {});
  });
}

}  // namespace rondo::schedule
