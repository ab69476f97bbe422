// What goes along the channels of a head. A running sum is that of the warps before, of the lanes before and
// of the thread's own channels: of a reduction the words of some warps alone. Shifts and rotations pass a row
// of all channels through shared memory: each thread stores its values where they go, in a cluster in the
// block where they go, and after the exchange each thread reads its own place. Rows of even and odd steps lie
// apart.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/lower/along_head.h"
#include "compiler/schedule/stream/head_exchange.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

constexpr int kRowsInTurn = 2;

bool is_prefix(const HeadReduction& reduction) { return reduction.kind == HeadReduction::Kind::Prefix; }

}  // namespace

int HeadExchange::moves() const {
  return static_cast<int>(std::ranges::count(reductions_.reductions, Kind::Move, &HeadReduction::kind));
}

int HeadExchange::moves_of(int level) const {
  const std::vector<std::size_t> numbers = reductions_.of_level(level);
  return static_cast<int>(std::ranges::count_if(numbers, [&](std::size_t i) { return is_move(i); }));
}

void HeadExchange::declare_rows() {
  if (moves() == 0) return;
  auto& b = stream_.builder();
  rows_ = b.shared("head_rows", kernel::Storage::F32,
                   std::int64_t{kRowsInTurn} * moves() * parameters_.heads * row_length(),
                   fmt::format("[turns {}, moves {}, heads {}, channels {}]", kRowsInTurn, moves(),
                               parameters_.heads, row_length()));
}

Value HeadExchange::own_place() { return stream_.threads().whole_heads().lane * parameters_.per_thread; }

// Past the head's end for threads without channels.
Value HeadExchange::own_channel() {
  if (!in_cluster()) return own_place();
  return stream_.threads().whole_heads().rank * row_length() + own_place();
}

// Of a channel of the block, in the row of a shift or rotation at this step.
Value HeadExchange::row_place(std::size_t number, Value channel) {
  const auto before = std::count_if(
      reductions_.reductions.begin(), reductions_.reductions.begin() + static_cast<std::ptrdiff_t>(number),
      [](const HeadReduction& reduction) { return reduction.kind == Kind::Move; });
  const Value row = (stream_.step() % kRowsInTurn * moves() + before) * parameters_.heads +
                    stream_.threads().whole_heads().of_block;
  return row * row_length() + channel;
}

// What lies past the head's end goes to its own place: each block gets as many values as it has places.
void HeadExchange::send_rows(int level, const std::vector<std::size_t>& numbers,
                             const std::vector<std::vector<Value>>& operands) {
  if (moves_of(level) == 0) return;
  auto& b = stream_.builder();
  const std::int64_t dim = problem_.sizes.dim;
  const bool all_exist = row_length() * parameters_.head_split == dim;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!is_move(numbers[i])) continue;
    const HeadMove move(reductions_.reductions[numbers[i]].node, dim);
    for (std::size_t c = 0; c < operands[i].size(); ++c) {
      const Value channel = b.let("channel_of_row", own_channel() + static_cast<std::int64_t>(c));
      Value to = move.target(channel);
      if (!all_exist) to = b.let("to", b.select(channel < dim, to, channel));
      if (!in_cluster()) {
        b.store(rows_[row_place(numbers[i], to)], operands[i][c]);
        continue;
      }
      const Value slot = reductions_.levels == 1 ? stream_.step() % 2 : b.constant(level);
      b.store_async(rows_[row_place(numbers[i], to % row_length())], {operands[i][c]}, to / row_length(),
                    arrived_, slot);
    }
  }
  if (warps() == 1) b.warp_sync();
}

std::vector<Value> HeadExchange::moved(std::size_t number, std::size_t channels) {
  auto& b = stream_.builder();
  const HeadMove move(reductions_.reductions[number].node, problem_.sizes.dim);
  std::vector<Value> values;
  for (std::size_t c = 0; c < channels; ++c) {
    const Value value = b.load("moved", rows_[row_place(number, own_place() + static_cast<std::int64_t>(c))]);
    const Value gets = move.gets(own_channel() + static_cast<std::int64_t>(c));
    values.push_back(gets.valid() ? b.let("shifted", b.select(gets, value, b.real(0))) : value);
  }
  return values;
}

void HeadExchange::add_running_sums(const std::vector<std::size_t>& level,
                                    const std::vector<std::vector<Value>>& operands, WarpShare& share) {
  auto& b = stream_.builder();
  for (std::size_t i = 0; i < level.size(); ++i) {
    const HeadReduction& reduction = reductions_.reductions[level[i]];
    if (!reduction.along() || is_move(level[i])) continue;
    const auto [before, total] =
        sums_of_warp_lanes(b, lanes(), stream_.threads().whole_heads().lane,
                           b.let("part", of_thread(Op::Add, operands[i])), is_prefix(reduction));
    share.before[i] = before;
    share.first[i] = share.words.size();
    share.words.push_back({Op::Add, total});
  }
}

// `before`: what the threads before have, or of sums from the last channel those after.
std::vector<Value> HeadExchange::running_sums(const HeadReduction& reduction, Value before,
                                              const std::vector<Value>& values) {
  auto& b = stream_.builder();
  const Value others = b.let("of_others", before);
  std::vector<Value> sums(values.size());
  Value own;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = is_prefix(reduction) ? i : values.size() - 1 - i;
    own = own.valid() ? b.let("own", own + values[c]) : values[c];
    sums[c] = b.let("running_sum", others + own);
  }
  return sums;
}

// What the warps of the head before the thread's have, or those after it.
Value HeadExchange::of_other_warps(const HeadReduction& reduction, Value words) {
  auto& b = stream_.builder();
  const auto counted = [&](Value warp, Value word) {
    return b.select(is_prefix(reduction) ? warp < warp_ : warp_ < warp, word, b.real(0));
  };
  if (warps() <= kWordsOfAll) {
    std::vector<Value> of_warps = words_of_warps(words);
    for (std::size_t w = 0; w < of_warps.size(); ++w)
      of_warps[w] = counted(b.constant(static_cast<std::int64_t>(w)), of_warps[w]);
    return b.let("of_warps", folded(b, Op::Add, of_warps));
  }
  std::vector<Value> before = words_before(words);
  for (std::size_t turn = 0; turn < before.size(); ++turn)
    before[turn] =
        counted(b.thread() % kWarpLanes + static_cast<std::int64_t>(turn) * kWarpLanes, before[turn]);
  Value last = counted(lane_warp_, b.load("word", words_[words + lane_warp_]));
  if (has_word_.valid()) last = b.select(has_word_, last, b.real(0));
  std::vector<Word> total = {{Op::Add, of_lane(Op::Add, before, last)}};
  across_lanes(total, lanes_reading());
  return total.front().value;
}

}  // namespace rondo::schedule
