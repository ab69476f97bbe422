#include "compiler/schedule/stream/head_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

// Places in turn of a walk of one exchange a step.
constexpr int kTurns = 2;

// Stands for minus infinity.
constexpr double kLeast = -static_cast<double>(std::numeric_limits<float>::max());

double vectors_of(const HeadReduction& reduction) { return static_cast<double>(reduction.operands.size()); }

}  // namespace

Value folded(kernel::Builder& b, Op op, std::vector<Value> values) {
  while (values.size() > 1) {
    std::vector<Value> half;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2)
      half.push_back(b.math(op, {values[i], values[i + 1]}));
    if (values.size() % 2 == 1) half.push_back(values.back());
    values = std::move(half);
  }
  return values.front();
}

int HeadExchange::words_of(int level) const {
  int words = 0;
  for (const std::size_t i : reductions_.of_level(level))
    words += is_move(i) ? 0 : reductions_.reductions[i].kind == Kind::Moments ? 2 : 1;
  // In a cluster every warp sends words in every exchange.
  return words == 0 && in_cluster() ? 1 : words;
}

int HeadExchange::warps() const {
  const int of_turn = kWarpLanes * parameters_.per_thread;
  return in_cluster() ? ceil_div(static_cast<int>(problem_.sizes.dim), of_turn) : block_warps();
}

int HeadExchange::turns() const { return ceil_div(warps(), kWarpLanes); }

int HeadExchange::channels_of(int warp) const {
  const int full = kWarpLanes * parameters_.per_thread;
  return std::min<int>(full, static_cast<int>(problem_.sizes.dim) - warp * full);
}

void HeadExchange::declare() {
  declare_rows();
  if (warps() == 1 || reductions_.levels == 0) return;
  auto& b = stream_.builder();
  // A walk of one exchange a step has two places in turn.
  int lines = 0;
  for (int level = 0; level < reductions_.levels; ++level) lines += words_of(level);
  if (reductions_.levels == 1) lines *= kTurns;
  if (lines > 0)
    words_ = b.shared("head_words", kernel::Storage::F32, std::int64_t{lines} * parameters_.heads * stride(),
                      fmt::format("[words {}, heads {}, warps {}]", lines, parameters_.heads, stride()));
  if (in_cluster()) {
    const int slots = std::max(kTurns, reductions_.levels);
    arrived_ = b.mbarrier("words_arrived", slots, 1, "the words of all blocks have come");
    b.comment("what the first exchanges will bring");
    b.if_(b.thread() == 0, [&] {
      for (int slot = 0; slot < slots; ++slot) expect(b.constant(slot), reductions_.levels == 1 ? 0 : slot);
    });
  }
  b.comment("the thread's warp among those of its head");
  const Value of_block = stream_.threads().whole_heads().lane / kWarpLanes;
  warp_ = b.let("warp",
                in_cluster() ? stream_.threads().whole_heads().rank * block_warps() + of_block : of_block);
  const auto of_warp = [&](const char* name, Value warp, double full, double last) {
    if (full == last) return b.real(full);
    return b.let(name, b.select(warp == warps() - 1, b.real(last), b.real(full)));
  };
  const double full = channels_of(0), last = channels_of(warps() - 1);
  each_of_warp_ = of_warp("each_of_warp", warp_, 1 / full, 1 / last);
  if (warps() <= kWordsOfAll) return;
  const int read = lanes_reading();
  const int before = (turns() - 1) * kWarpLanes;  // words of the turns that all lanes take
  const Value lane = before == 0 ? b.thread() % read : b.thread() % read + before;
  if (read + before != warps()) has_word_ = b.let("has_word", lane < warps());
  lane_warp_ = b.let("lane_warp", read + before == warps() ? lane : min(lane, b.constant(warps() - 1)));
  lane_channels_ = of_warp("lane_channels", lane_warp_, full, last);
  lane_each_ = of_warp("lane_each", lane_warp_, 1 / full, 1 / last);
}

// The channels of a thread exist together: their number divides the head's. Those of several vectors are one
// after the other.
Value HeadExchange::of_thread(Op op, const std::vector<Value>& values) {
  auto& b = stream_.builder();
  const Value own = folded(b, op, values);
  if (!stream_.threads().whole_heads().owns.valid()) return own;
  // A maximum may meet the first channel twice, but not what goes along the head, which is none of a
  // channel's there.
  if (op == Op::Max && std::ranges::none_of(reductions_.reductions, &HeadReduction::along)) return own;
  if (op == Op::Max) return b.select(stream_.threads().whole_heads().owns, own, b.real(kLeast));
  return b.select(stream_.threads().whole_heads().owns, own, b.real(0));
}

// Both of two lanes add the same numbers, so all have the same bits.
void HeadExchange::across_lanes(std::vector<Word>& words, int lanes) {
  auto& b = stream_.builder();
  for (int apart = lanes / 2; apart > 0; apart /= 2)
    for (Word& word : words) {
      const Value other = b.shuffle("other", word.value, kernel::ShuffleMode::Xor, b.constant(apart));
      word.value = b.let("sum", b.math(word.op, {word.value, other}));
    }
}

HeadExchange::WarpShare HeadExchange::of_warp(const std::vector<std::size_t>& level,
                                              const std::vector<std::vector<Value>>& operands) {
  auto& b = stream_.builder();
  WarpShare share;
  share.first.resize(level.size());
  share.squares.resize(level.size());
  share.before.resize(level.size());
  for (std::size_t i = 0; i < level.size(); ++i) {
    const HeadReduction& reduction = reductions_.reductions[level[i]];
    if (reduction.along()) continue;
    const Op op = reduction.kind == Kind::Max ? Op::Max : Op::Add;
    share.first[i] = share.words.size();
    share.words.push_back({op, b.let("part", of_thread(op, operands[i]))});
  }
  across_lanes(share.words, lanes());
  add_squares(level, operands, share);
  add_running_sums(level, operands, share);
  if (!share.words.empty() || !in_cluster()) return share;
  // Its lanes have read the rows of the exchange before when one of them sends the word that says so.
  // Shuffles of what is reduced see to that.
  b.warp_sync();
  share.words.push_back({Op::Add, b.real(0)});
  return share;
}

void HeadExchange::add_squares(const std::vector<std::size_t>& level,
                               const std::vector<std::vector<Value>>& operands, WarpShare& share) {
  auto& b = stream_.builder();
  std::vector<Word> squares;
  for (std::size_t i = 0; i < level.size(); ++i) {
    const HeadReduction& reduction = reductions_.reductions[level[i]];
    if (reduction.kind != Kind::Moments) continue;
    const Value each = warps() == 1 ? b.real(1 / static_cast<double>(problem_.sizes.dim)) : each_of_warp_;
    const Value mean =
        b.let("mean", share.words[share.first[i]].value * each * b.real(1 / vectors_of(reduction)));
    std::vector<Value> of_channels;
    for (const Value value : operands[i]) {
      const Value distance = b.let("distance", value - mean);
      of_channels.push_back(distance * distance);
    }
    share.squares[i] = share.words.size() + squares.size();
    squares.push_back({Op::Add, b.let("squares", of_thread(Op::Add, of_channels))});
  }
  across_lanes(squares, lanes());
  share.words.insert(share.words.end(), squares.begin(), squares.end());
}

// Where the words of an exchange begin.
Value HeadExchange::line(int level, int words) {
  auto& b = stream_.builder();
  if (reductions_.levels == 1)
    return b.let("line", stream_.step() % 2 * (words * parameters_.heads * stride()));
  int before = 0;
  for (int earlier = 0; earlier < level; ++earlier) before += words_of(earlier);
  return b.constant(std::int64_t{before} * parameters_.heads * stride());
}

Value HeadExchange::word_at(Value first, std::size_t word) {
  return first + stream_.threads().whole_heads().of_block * stride() +
         static_cast<std::int64_t>(word) * parameters_.heads * stride();
}

void HeadExchange::meet(int level, Value first, const std::vector<Word>& words) {
  auto& b = stream_.builder();
  if (in_cluster()) return send_to_cluster(level, first, words);
  if (!words.empty())
    b.if_(stream_.threads().whole_heads().lane % kWarpLanes == 0, [&] {
      for (std::size_t w = 0; w < words.size(); ++w)
        b.store(words_[word_at(first, w) + warp_], words[w].value);
    });
  b.barrier();
}

// All lanes have the words. Exchanges take the slots in turn, so the phase of a slot is the number of steps,
// or of pairs of steps, that were walked before.
void HeadExchange::send_to_cluster(int level, Value first, const std::vector<Word>& words) {
  auto& b = stream_.builder();
  const bool alone = reductions_.levels == 1;
  const Value slot = alone ? b.let("slot_of_words", stream_.step() % kTurns) : b.constant(level);
  const Value lane = stream_.threads().whole_heads().lane % kWarpLanes;
  b.if_(lane < parameters_.head_split, [&] {
    for (std::size_t w = 0; w < words.size(); ++w)
      b.store_async(words_[word_at(first, w) + warp_], {words[w].value}, lane, arrived_, slot);
  });
  const Value turn = alone ? stream_.steps_before() / kTurns : stream_.steps_before();
  b.wait(arrived_, slot, turn % 2);
  // Early bytes are safe: the phase completes only after expect_tx, its sole arrival (PTX ISA, mbarrier,
  // tx-count).
  b.if_(b.thread() == 0, [&] { expect(slot, level); });
}

void HeadExchange::expect(Value slot, int level) {
  auto& b = stream_.builder();
  const int lines = block_warps() * parameters_.head_split;
  const int words = words_of(level) * lines + moves_of(level) * row_length();
  b.expect(arrived_, slot, b.constant(std::int64_t{4} * words));
}

// No block leaves while others may still send to it.
void HeadExchange::finish() {
  if (in_cluster() && reductions_.levels > 0) stream_.builder().cluster_barrier();
}

std::vector<HeadExchange::Totals> HeadExchange::run(int level,
                                                    const std::vector<std::vector<Value>>& operands) {
  const std::vector<std::size_t> numbers = reductions_.of_level(level);
  const WarpShare share = of_warp(numbers, operands);
  std::vector<Totals> totals;
  Value first;
  send_rows(level, numbers, operands);
  if (warps() > 1) {
    if (words_.valid()) first = line(level, static_cast<int>(share.words.size()));
    meet(level, first, share.words);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const HeadReduction& reduction = reductions_.reductions[numbers[i]];
    const bool moments = reduction.kind == Kind::Moments;
    if (reduction.kind == Kind::Move) {
      totals.push_back({{}, {}, moved(numbers[i], operands[i].size())});
      continue;
    }
    const Value total = share.words[share.first[i]].value;
    if (reduction.along()) {
      Value before = share.before[i];
      if (warps() > 1) before = of_other_warps(reduction, word_at(first, share.first[i])) + before;
      totals.push_back({{}, {}, running_sums(reduction, before, operands[i])});
      continue;
    }
    const std::size_t second = moments ? share.squares[i] : share.first[i];
    if (warps() == 1) {
      totals.push_back({total, moments ? share.words[second].value : Value{}, {}});
      continue;
    }
    const auto lines = std::pair{word_at(first, share.first[i]), word_at(first, second)};
    totals.push_back(warps() <= kWordsOfAll ? combine_all(reduction, lines.first, lines.second)
                                            : combine_by_lanes(reduction, lines.first, lines.second));
  }
  return totals;
}

std::vector<Value> HeadExchange::words_of_warps(Value first) {
  auto& b = stream_.builder();
  std::vector<Value> words;
  for (int warp = 0; warp < warps();) {
    const int count = warp + 4 <= warps() ? 4 : warp + 2 <= warps() ? 2 : 1;
    for (const Value word : b.load_vector("word", words_[first + warp], count)) words.push_back(word);
    warp += count;
  }
  return words;
}

double HeadExchange::numbers_of(const HeadReduction& reduction) const {
  return vectors_of(reduction) * static_cast<double>(problem_.sizes.dim);
}

// The squares about the mean of the head, of numbers whose squares are about their own mean.
Value HeadExchange::distance_from(Value mean, Value sum, Value squares, Value numbers, Value each) {
  auto& b = stream_.builder();
  const Value distance = b.let("distance", sum * each - mean);
  return squares + distance * distance * numbers;
}

HeadExchange::Totals HeadExchange::combine_all(const HeadReduction& reduction, Value sums, Value squares) {
  auto& b = stream_.builder();
  const std::vector<Value> words = words_of_warps(sums);
  const Op op = reduction.kind == Kind::Max ? Op::Max : Op::Add;
  const Value total = b.let("total", folded(b, op, words));
  if (reduction.kind != Kind::Moments) return {total, {}, {}};
  const Value mean = b.let("mean", total * b.real(1 / numbers_of(reduction)));
  std::vector<Value> about_mean = words_of_warps(squares);
  for (std::size_t w = 0; w < words.size(); ++w) {
    const double numbers = vectors_of(reduction) * channels_of(static_cast<int>(w));
    about_mean[w] = distance_from(mean, words[w], about_mean[w], b.real(numbers), b.real(1 / numbers));
  }
  return {total, b.let("squares", folded(b, Op::Add, about_mean)), {}};
}

int HeadExchange::lanes_reading() const {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::min(warps(), kWarpLanes))));
}

std::vector<Value> HeadExchange::words_before(Value first) {
  auto& b = stream_.builder();
  std::vector<Value> words;
  for (int turn = 0; turn + 1 < turns(); ++turn)
    words.push_back(b.load("word", words_[first + b.thread() % kWarpLanes + turn * kWarpLanes]));
  return words;
}

Value HeadExchange::of_lane(Op op, std::vector<Value> before, Value last) {
  if (before.empty()) return last;
  before.push_back(last);
  return stream_.builder().let("of_lane", folded(stream_.builder(), op, std::move(before)));
}

HeadExchange::Totals HeadExchange::combine_by_lanes(const HeadReduction& reduction, Value sums,
                                                    Value squares) {
  auto& b = stream_.builder();
  const int read = lanes_reading();
  const auto or_nothing = [&](Value value) {
    return has_word_.valid() ? b.select(has_word_, value, b.real(0)) : value;
  };
  const std::vector<Value> before = words_before(sums);
  const Value word = b.load("word", words_[sums + lane_warp_]);
  const bool maximum = reduction.kind == Kind::Max;
  const Op op = maximum ? Op::Max : Op::Add;
  std::vector<Word> total = {{op, of_lane(op, before, maximum ? word : or_nothing(word))}};
  across_lanes(total, read);
  if (reduction.kind != Kind::Moments) return {total.front().value, {}, {}};
  const double vectors = vectors_of(reduction), full = channels_of(0) * vectors;
  const Value mean = b.let("mean", total.front().value * b.real(1 / numbers_of(reduction)));
  std::vector<Value> of_before = words_before(squares);
  for (std::size_t turn = 0; turn < before.size(); ++turn)
    of_before[turn] = distance_from(mean, before[turn], of_before[turn], b.real(full), b.real(1 / full));
  const Value own = b.load("word", words_[squares + lane_warp_]);
  const Value last = or_nothing(
      distance_from(mean, word, own, lane_channels_ * b.real(vectors), lane_each_ * b.real(1 / vectors)));
  std::vector<Word> about_mean = {{Op::Add, of_lane(Op::Add, of_before, last)}};
  across_lanes(about_mean, read);
  return {total.front().value, about_mean.front().value, {}};
}

}  // namespace rondo::schedule
