// How the lines of all warps of a team meet, and how they are added up.
#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/schedule/persistent/reductions.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

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

Value ReductionExchange::place(const Meeting& meeting, int tile, std::size_t words, Value line,
                               Value count) const {
  const int tiles = geometry_.p.batch_tiles, of_line = 2 * static_cast<int>(words);
  Value first = (line * 4 + kernel_.here().quarter) * of_line + tile * meeting.lines * 4 * of_line;
  if (meeting.slots > 1) first = first + count % 2 * (tiles * meeting.lines * 4 * of_line);
  return first;
}

// Replaces each batch tile's parts by those of all lines.
void ReductionExchange::meet(const Stage& stage, const Meeting& meeting, Value count,
                             std::vector<Parts>& totals) {
  const PersistentGeometry& g = geometry_;
  for (int tile = 0; tile < g.p.batch_tiles; ++tile) hand_over(stage, meeting, tile, count, totals[at(tile)]);
  wait(meeting, count);
  for (int tile = 0; tile < g.p.batch_tiles; ++tile)
    totals[at(tile)] = in_shared(meeting) && meeting.lines <= kMostOfThread
                           ? all_lines(stage, meeting, tile, count)
                           : lines_by_lane(stage, meeting, tile, count);
  if (g.in_cluster() && !meeting.in_block)
    kernel_.builder().if_(kernel_.builder().thread() == 0, [&] { expect(stage, count % 2); });
}

namespace {

// Words of a vector, by which so many words are moved.
std::size_t piece_of(std::size_t words) { return words % 4 == 0 ? 4 : words % 2 == 0 ? 2 : 1; }

void in_pieces(Value to, const std::vector<Value>& parts,
               const std::function<void(Value, const std::vector<Value>&)>& put) {
  const std::size_t piece = piece_of(parts.size());
  for (std::size_t first = 0; first < parts.size(); first += piece)
    put(to + static_cast<std::int64_t>(first), {parts.begin() + static_cast<std::ptrdiff_t>(first),
                                                parts.begin() + static_cast<std::ptrdiff_t>(first + piece)});
}

}  // namespace

void ReductionExchange::hand_over(const Stage& stage, const Meeting& meeting, int tile, Value count,
                                  const Parts& parts) const {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const std::size_t words = stage.words.size();
  if (!meeting.in_block && g.in_grid())
    return send_to_grid(meeting, tile, count % ring_->slots(), static_cast<int>(words), parts);
  Value line = kernel_.here().warp;
  if (!meeting.in_block) line = by_block(g) ? kernel_.here().rank : kernel_.here().rank * g.warps + line;
  const Value to = b.let("line", place(meeting, tile, words, line, count));
  if (!meeting.in_block) return send_to_cluster(meeting, to, count, parts);
  const bool one_row = rows_of(stage, parts) == 1;
  const Value own = one_row ? to + kernel_.here().group * static_cast<std::int64_t>(words) : to;
  b.if_(one_row ? kernel_.here().group < 2 : kernel_.here().group == 0, [&] {
    in_pieces(own, parts, [&](Value at, const std::vector<Value>& piece) {
      piece.size() == 1 ? b.store(meeting.memory[at], piece[0]) : b.store_vector(meeting.memory[at], piece);
    });
  });
}

// All lanes of a pair of batch rows have the line: each sends it to other blocks. A block's line is sent by
// its warps in turn.
void ReductionExchange::send_to_cluster(const Meeting& meeting, Value to, Value count,
                                        const Parts& parts) const {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  for (int first = 0; first < g.p.blocks; first += kGroups) {
    const Value peer = kernel_.here().group + first;
    const auto send = [&] {
      in_pieces(to, parts, [&](Value at, const std::vector<Value>& piece) {
        b.store_async(meeting.memory[at], piece, peer, meeting.arrived, count % 2);
      });
    };
    const auto existing = [&] { g.p.blocks - first >= kGroups ? send() : b.if_(peer < g.p.blocks, send); };
    if (by_block(g))
      b.if_(kernel_.here().warp == first / kGroups % g.warps, existing);
    else
      existing();
  }
}

// `parts`: or no values, to clear the words.
void ReductionExchange::send_to_grid(const Meeting& meeting, int tile, Value slot, int words,
                                     const Parts& parts) const {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const int of_line = padded(words);
  const Value line = by_block(g) ? kernel_.here().rank : kernel_.here().rank * g.warps + kernel_.here().warp;
  const Value first = (line * 4 + kernel_.here().quarter) * of_line +
                      (meeting.first + std::int64_t{tile} * meeting.lines * 4 * of_line);
  const Value first_lanes = kernel_.here().group == 0;
  b.if_(by_block(g) ? first_lanes && kernel_.here().warp == 0 : first_lanes, [&] {
    for (int i = 0; i < of_line; i += 4) {
      std::vector<Value> piece;
      for (int word = i; word < i + 4; ++word) {
        const bool exists = at(word) < parts.size();
        piece.push_back(parts.empty() ? b.constant(kernel::kEmpty) : exists ? parts[at(word)] : b.real(0));
      }
      b.store_self_flagged(ring_->at(kernel_, slot, first + i), piece);
    }
  });
}

void ReductionExchange::wait(const Meeting& meeting, Value count) const {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  if (meeting.in_block) return b.named_barrier(kReduceBarrier, 32 * g.warps);
  if (g.in_cluster()) b.wait(meeting.arrived, count % 2, count / 2 % 2);  // a grid's words flag themselves
}

ReductionExchange::Parts ReductionExchange::load_line(const Meeting& meeting, std::size_t numbers,
                                                      Value place) const {
  auto& b = kernel_.builder();
  const std::size_t piece = piece_of(numbers);
  Parts parts;
  for (std::size_t first = 0; first < numbers; first += piece) {
    const kernel::Place from = meeting.memory[place + static_cast<std::int64_t>(first)];
    if (piece == 1) {
      parts.push_back(b.load("of_line", from));
      continue;
    }
    const std::vector<Value> values = b.load_vector("of_line", from, static_cast<int>(piece));
    parts.insert(parts.end(), values.begin(), values.end());
  }
  return parts;
}

Value ReductionExchange::channels_of(const Meeting& meeting, Value line) const {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  Value all = b.constant(of_block_of_team(meeting) ? g.units : g.dim);
  if (of_block_of_team(meeting) && !g.exact()) all = min(b.constant(g.dim) - kernel_.here().first_unit, all);
  const Value left = all - line * meeting.channels;
  return b.to_real(min(b.select(left < 0, b.constant(0), left), b.constant(meeting.channels)));
}

Value ReductionExchange::share_of(const Meeting& meeting) const {
  auto& b = kernel_.builder();
  if (!of_block_of_team(meeting)) return b.real(1 / static_cast<double>(geometry_.dim));
  return geometry_.exact() ? b.real(1 / static_cast<double>(geometry_.units)) : share_of_block_;
}

Value ReductionExchange::around_mean(const Meeting& meeting, const Word& word, double fixed, Value line,
                                     Value sum, Value spread, Value mean) const {
  auto& b = kernel_.builder();
  if (fixed > 0) {
    const Value off = b.let("off", sum * b.real(1 / (fixed * word.rows())) - mean);
    return b.math(Op::Fma, {b.math(Op::Square, {off}), b.real(fixed * word.rows()), spread});
  }
  const Value numbers = b.let("numbers", channels_of(meeting, line) * b.real(word.rows()));
  const Value off = b.let("off", sum / b.math(Op::Max, {numbers, b.real(1)}) - mean);
  return spread + b.math(Op::Square, {off}) * numbers;
}

// All but the spreads.
ReductionExchange::Parts ReductionExchange::sums_of(const Stage& stage,
                                                    const std::vector<Parts>& lines) const {
  Parts total(lines[0].size());
  for (std::size_t i = 0; i < total.size(); ++i) {
    const Word& word = stage.words[i % stage.words.size()];
    if (word.node->kind == NodeKind::ReduceSpread) continue;
    std::vector<Value> rest;
    for (const Parts& line : lines) rest.push_back(line[i]);
    const auto both = [&](Value a, Value b) { return combine(word, a, b); };
    total[i] = kernel_.builder().let("part", in_pairs(rest, both));
  }
  return total;
}

ReductionExchange::Parts ReductionExchange::all_lines(const Stage& stage, const Meeting& meeting, int tile,
                                                      Value count) const {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  // 0 if that depends on the block.
  const auto fixed = [&](int line) {
    if (g.exact() || of_block_of_team(meeting)) return g.exact() ? std::int64_t{meeting.channels} : 0;
    return std::min<std::int64_t>(meeting.channels, g.dim - std::int64_t{line} * meeting.channels);
  };
  const auto exists = [&](int line) { return of_block_of_team(meeting) || fixed(line) > 0; };
  std::vector<Parts> loaded;
  for (int line = 0; line < meeting.lines && exists(line); ++line)
    loaded.push_back(load_line(meeting, 2 * stage.words.size(),
                               place(meeting, tile, stage.words.size(), b.constant(line), count)));
  Parts total = sums_of(stage, loaded);
  for (std::size_t word = 0; word < stage.words.size(); ++word) {
    const Word& of = stage.words[word];
    if (of.node->kind != NodeKind::ReduceSpread) continue;
    for (int row = 0; row < 2; ++row) {
      const std::size_t i = at(row) * stage.words.size() + word, sum = i - word + of.sum;
      const Value mean = b.let("mean", total[sum] * (share_of(meeting) * b.real(1 / of.rows())));
      std::vector<Value> spreads;
      for (std::size_t k = 0; k < loaded.size(); ++k) {
        const int line = static_cast<int>(k);
        spreads.push_back(around_mean(meeting, of, static_cast<double>(fixed(line)), b.constant(line),
                                      loaded[k][sum], loaded[k][i], mean));
      }
      total[i] = in_pairs(spreads);
    }
  }
  return total;
}

// What a lane loads: in a grid both rows of line g, g + 8 and so on of the lanes of group g; in shared memory
// the lane's row of lines g / 2, g / 2 + 4 and so on.
std::vector<ReductionExchange::Parts> ReductionExchange::load_by_lane(const Stage& stage,
                                                                      const Meeting& meeting, int tile,
                                                                      Value count) {
  auto& b = kernel_.builder();
  const int all = meeting.lines, lanes = sharers(meeting), turns = ceil_div(all, lanes);
  const auto line_of = [&](int turn) {
    const Value line = sharer(meeting) + turn * lanes;
    return (turn + 1) * lanes <= all ? line : min(line, b.constant(all - 1));
  };
  const std::size_t of_row = stage.words.size();
  std::vector<Parts> loaded;
  if (in_shared(meeting)) {
    for (int turn = 0; turn < turns; ++turn) {
      const Value both = place(meeting, tile, of_row, line_of(turn), count);
      const Value own = both + kernel_.here().group % 2 * static_cast<std::int64_t>(of_row);
      loaded.push_back(meeting.in_block ? load_line(meeting, of_row, own)
                                        : load_line(meeting, 2 * of_row, both));
    }
    return loaded;
  }
  const int words = padded(static_cast<int>(of_row));
  const auto from = [&](int turn, int piece) {
    const Value first = (line_of(turn) * 4 + kernel_.here().quarter) * words;
    return ring_->at(kernel_, count % ring_->slots(),
                     first + (meeting.first + std::int64_t{tile} * all * 4 * words + piece));
  };
  const int whole = all / lanes;
  int rest = tile == 0 ? geometry_.p.poll_delay : 0;  // the lines of all tiles are sent before
  for (int piece = 0; piece < words; piece += 4) {
    const int first = piece * turns;
    if (whole > 0)
      b.load_self_flagged(collected_, b.constant(first), whole, from(0, piece), b.constant(lanes * 4 * words),
                          true, std::exchange(rest, 0));
    if (whole < turns)
      b.load_self_flagged(collected_, b.constant(first + 4 * whole), 1, from(whole, piece), b.constant(0),
                          true, std::exchange(rest, 0));
  }
  for (int turn = 0; turn < turns; ++turn) {
    Parts& parts = loaded.emplace_back();
    for (int i = 0; i < 2 * static_cast<int>(of_row); ++i)
      parts.push_back(b.let("of_line", b.read(collected_, b.constant(i / 4 * 4 * turns + turn * 4 + i % 4))));
  }
  return loaded;
}

// The same, with nothing where a lane has no line in the last turn: it has loaded another's.
std::vector<ReductionExchange::Parts> ReductionExchange::collect_by_lane(const Stage& stage,
                                                                         const Meeting& meeting, int tile,
                                                                         Value count) {
  auto& b = kernel_.builder();
  std::vector<Parts> loaded = load_by_lane(stage, meeting, tile, count);
  const int left = meeting.lines % sharers(meeting);
  for (std::size_t i = 0; left != 0 && i < loaded.back().size(); ++i)
    loaded.back()[i] = b.let("of_line", b.select(sharer(meeting) < left, loaded.back()[i],
                                                 neutral(stage.words[i % stage.words.size()])));
  return loaded;
}

ReductionExchange::Parts ReductionExchange::lines_by_lane(const Stage& stage, const Meeting& meeting,
                                                          int tile, Value count) {
  const int all = meeting.lines, lanes = sharers(meeting);
  const std::vector<Parts> loaded = collect_by_lane(stage, meeting, tile, count);
  Parts total = sums_of(stage, loaded);
  const bool exact = geometry_.exact();
  const Lanes even{exact && all % lanes == 0, static_cast<double>(meeting.channels) * all / lanes,
                   share_of(meeting)};
  across_lanes(stage, total, even, [&](const Word& word, int row, Value mean) {
    const auto index = at(&word - stage.words.data());
    const std::size_t i = at(row) * stage.words.size() + index, sum = i - index + word.sum;
    std::vector<Value> spreads;
    for (std::size_t turn = 0; turn < loaded.size(); ++turn) {
      const bool full = exact && (turn + 1) * at(lanes) <= at(all);
      const Value line = sharer(meeting) + static_cast<std::int64_t>(turn) * lanes;
      spreads.push_back(around_mean(meeting, word, full ? meeting.channels : 0, line, loaded[turn][sum],
                                    loaded[turn][i], mean));
    }
    return in_pairs(spreads);
  });
  return rows_of(stage, total) == 2 ? total : both_rows(total);
}

void ReductionExchange::clear_sent(Value count, bool fences) {
  if (!any() || !geometry_.in_grid()) return;
  const auto clear = [&](Value slot) {
    for (const Stage& stage : stages_)
      for (int tile = 0; tile < geometry_.p.batch_tiles; ++tile)
        send_to_grid(stage.meetings.back(), tile, slot, static_cast<int>(stage.words.size()), {});
  };
  clear_slots(kernel_, *ring_, count, clear, fences);
}

}  // namespace rondo::schedule
