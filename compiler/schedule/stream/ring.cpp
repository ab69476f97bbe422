#include "compiler/schedule/stream/ring.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/lower/copy_vector.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

constexpr int kUnroll = 8;  // copies of a loop

}  // namespace

int StreamRing::add(TensorRef ref, bool shifted) {
  const StreamParameters& p = parameters_;
  Staged staged;
  staged.tensor = threads_.signature().reads(ref);
  staged.shifted = shifted;
  shape(staged);
  const std::string of_step_shape = staged.tensor.per_head
                                        ? fmt::format("rows {}", staged.width)
                                        : fmt::format("rows {}, channels {}", staged.lines, staged.width);
  staged.shared = b_.shared(staged.tensor.name + (shifted ? "_before" : "_staged"), staged.tensor.storage,
                            std::int64_t{p.stages} * p.steps * of_step(staged),
                            fmt::format("[stages {}, steps {}, {}]{}", p.stages, p.steps, of_step_shape,
                                        staged.padding > 0 ? ", padded between the rows of two lanes" : ""));
  staged_.push_back(staged);
  return static_cast<int>(staged_.size()) - 1;
}

void StreamRing::shape(Staged& staged) const {
  const StreamParameters& p = parameters_;
  const KernelTensor& tensor = staged.tensor;
  staged.vector = p.vector;
  if (tensor.per_head) {
    staged.width = tensor.rows;
    while (staged.width % staged.vector != 0) staged.vector /= 2;
    return;
  }
  staged.lines = tensor.rows * p.heads;
  staged.width = p.channels;
  if (tensor.row_lanes > 1) staged.padding = ChannelThreads::widest(tensor);
}

bool StreamRing::any_shifted() const {
  return std::ranges::any_of(staged_, [](const Staged& staged) { return staged.shifted; });
}

void StreamRing::place_rows() {
  for (Staged& staged : staged_)
    staged.base =
        staged.tensor.per_head
            ? b_.let(staged.tensor.name + "_base",
                     threads_.row_base(staged.tensor) + b_.wide(threads_.here().head * staged.tensor.rows))
        : parameters_.heads == 1
            ? threads_.base(staged.tensor, threads_.here().tile_channel, "_base")
            : b_.let(staged.tensor.name + "_base",
                     threads_.row_base(staged.tensor) +
                         b_.wide(threads_.whole_heads().first * (staged.tensor.rows * threads_.dim())));
}

void StreamRing::place_copies() {
  for (std::size_t i = 0; i < staged_.size(); ++i) place_copies_of(static_cast<int>(i));
}

// Each staging thread keeps to one place of a step. Where a step has fewer vectors than there are threads,
// several steps go side by side; where it has more, threads take turns.
void StreamRing::place_copies_of(int tensor) {
  b_.comment("what this thread stages of " + staged_[at(tensor)].tensor.name);
  // Staging threads follow each other, so their numbers are any without repeating.
  const int staging = parameters_.staging();
  const Value thread =
      parameters_.producer_warps == 0 ? b_.thread() : b_.let("stager", b_.thread() % staging);
  const Staged& staged = staged_[at(tensor)];
  const int per_step = staged.width / staged.vector * staged.lines;
  if (const int abreast = staging / per_step; abreast > 0) {
    Place place = place_copy(tensor, thread % per_step, thread / per_step, abreast);
    if (abreast * per_step != staging) place.mine = thread < abreast * per_step;
    places_.push_back(place);
    return;
  }
  for (int start = 0; start < per_step; start += staging) {
    Place place = place_copy(tensor, thread + start, b_.constant(0), 1);
    if (start + staging > per_step) place.mine = thread < per_step - start;
    places_.push_back(place);
  }
}

StreamRing::Place StreamRing::place_copy(int tensor, Value place, Value begin, int stride) {
  const Staged& staged = staged_[at(tensor)];
  const int rows = staged.tensor.rows;
  const std::int64_t per_row = staged.width / staged.vector;
  const Value width =
      staged.tensor.per_head ? b_.constant(staged.width) : b_.named("kChannels", parameters_.channels);
  Place result;
  result.tensor = tensor;
  result.stride = stride;
  result.begin = b_.let("begin", begin);
  const Value row = b_.let("row", place / per_row);
  if (!threads_.heads_divide())
    result.head_exists =
        b_.let("head_exists", row + threads_.whole_heads().first * rows < threads_.head_count() * rows);
  result.column = b_.let("column", place % per_row * staged.vector);
  result.from =
      b_.let("from", staged.base + b_.wide(result.begin - (staged.shifted ? 1 : 0)) * staged.tensor.stride_t +
                         b_.wide(row * b_.named("kDim", threads_.dim()) + result.column));
  Value to = (result.begin * staged.lines + row) * width + result.column;
  if (staged.padding > 0) {
    const Value lanes = result.begin * staged.tensor.row_lanes + row / staged.tensor.own_rows();
    to = to + lanes * staged.padding;
  }
  result.to = b_.let("to", to);
  return result;
}

Value StreamRing::slot_of(Value block) {
  return b_.let("ahead_slot", block % b_.named("kStages", parameters_.stages));
}

void StreamRing::stage_ahead(Value block) {
  b_.if_(block < threads_.blocks(), [&] {
    const Value first_step = b_.let("ahead_step", threads_.first_step_of(block));
    copy_paced(first_step, slot_of(block));
  });
  b_.commit_copies();
}

void StreamRing::fill() {
  b_.for_("ahead", 0, parameters_.stages - 1, 1, [&](Value ahead) { stage_ahead(ahead); });
}

bool StreamRing::interleaves_copies() const {
  return parameters_.interleaved_copies && parameters_.producer_warps == 0 && threads_.channels_divide();
}

StreamRing::Ahead StreamRing::stage_to_copy(Value block, bool apart) {
  b_.comment("the stage to copy");
  const Value exists = block < threads_.blocks();
  Ahead ahead;
  ahead.first_step = b_.let("ahead_step", threads_.first_step_of(block));
  ahead.slot = slot_of(block);
  const Value past = ahead.first_step + b_.named("kSteps", parameters_.steps);
  Value whole = past <= threads_.time(), partial = threads_.time() < past;
  if (apart) {
    whole = whole && ahead.first_step >= 1;
    partial = partial || ahead.first_step < 1;
  }
  ahead.whole = b_.let("whole", exists && whole);
  ahead.partial = b_.let("partial", exists && partial);
  return ahead;
}

void StreamRing::copy_piece(const Ahead& ahead, Value piece, int pieces) {
  b_.if_(ahead.whole, [&] { copy_burst(ahead.first_step, ahead.slot, piece, pieces); });
}

void StreamRing::finish_copies(const Ahead& ahead) {
  b_.if_(ahead.partial, [&] { copy_paced(ahead.first_step, ahead.slot); });
  b_.commit_copies();
}

void StreamRing::each_place(Value first_step, Value slot, const Copy& copy) {
  for (const Place& place : places_) {
    const Staged& staged = staged_[at(place.tensor)];
    b_.comment("stage " + staged.tensor.name);
    Value exists;
    if (!staged.tensor.per_head && !threads_.channels_divide())
      exists = threads_.here().tile_channel + place.column < b_.named("kDim", threads_.dim());
    threads_.if_all({place.mine, exists, place.head_exists}, [&] {
      copy(place, staged, place.from + b_.wide(first_step) * staged.tensor.stride_t,
           b_.let("to", place.to + slot * (parameters_.steps * of_step(staged))));
    });
  }
}

// Each copy asks whether its step exists; the arithmetic in between paces the copies
// (StreamParameters::interleaved_copies).
void StreamRing::copy_paced(Value first_step, Value slot) {
  each_place(first_step, slot, [&](const Place& place, const Staged& staged, Value from, Value to) {
    const Value at_step = b_.variable("from", from);
    const int turns = ceil_div(parameters_.steps, place.stride);
    b_.for_("turn", 0, turns, std::min(kUnroll, turns), [&](Value turn) {
      const Value s = b_.let("s", place.begin + turn * place.stride);
      Value inside = first_step + s < threads_.time();
      if (parameters_.steps % place.stride != 0) inside = inside && s < parameters_.steps;
      if (staged.shifted) inside = inside && first_step + s >= 1;
      const Value step = turn * (place.stride * of_step(staged));
      b_.if_(inside, [&] { copy_vector(staged.shared, to + step, staged.tensor, at_step, staged.vector); });
      b_.assign(at_step, at_step + staged.tensor.stride_t * place.stride);
    });
  });
}

// Burst `piece` of `pieces` of a stage whose steps all exist.
void StreamRing::copy_burst(Value first_step, Value slot, Value piece, int pieces) {
  each_place(first_step, slot, [&](const Place& place, const Staged& staged, Value from, Value to) {
    const Value start = b_.let("from", from);
    const int all = ceil_div(parameters_.steps, place.stride), turns = ceil_div(all, pieces);
    b_.for_("turn", 0, turns, std::min(kUnroll, turns), [&](Value turn) {
      const Value now = b_.let("now", piece * turns + turn);
      const Value step = now * place.stride;
      Value inside, more;
      if (parameters_.steps % place.stride != 0) inside = place.begin + step < parameters_.steps;
      if (turns * pieces != all) more = now < all;
      threads_.if_all({inside, more}, [&] {
        copy_vector(staged.shared, to + step * of_step(staged), staged.tensor,
                    start + b_.wide(step) * staged.tensor.stride_t, staged.vector);
      });
    });
  });
}

Value StreamRing::row_place(const Staged& staged, Value line, int row) {
  if (staged.tensor.per_head) return line * staged.width + threads_.own_row(staged.tensor, row);
  if (staged.tensor.row_lanes > 1) {
    const int of_lane = staged.tensor.own_rows() * staged.width + staged.padding;
    return line * of_step(staged) + threads_.here().row_lane * of_lane + std::int64_t{row} * staged.width +
           threads_.here().lane_channel;
  }
  Value of_rows = line * staged.lines + row;
  if (parameters_.heads > 1) of_rows = of_rows + threads_.whole_heads().read * staged.tensor.rows;
  return of_rows * b_.named("kChannels", parameters_.channels) + threads_.here().lane_channel;
}

// A thread's rows lie side by side, and all its channels have the same.
std::vector<std::vector<Value>> StreamRing::load_head_values(const Staged& staged, Value line) {
  std::vector<std::vector<Value>> rows;
  int count = ChannelThreads::widest(staged.tensor);
  while (staged.tensor.own_rows() % count != 0) count /= 2;
  for (int first = 0; first < staged.tensor.own_rows(); first += count)
    for (const Value value :
         b_.load_vector(staged.tensor.name, staged.shared[row_place(staged, line, first)], count))
      rows.emplace_back(at(parameters_.per_thread), value);
  return rows;
}

StreamRing::Rows StreamRing::load(Value line, bool at_start) {
  Rows values;
  for (const Staged& staged : staged_) {
    auto& rows = values.emplace_back();
    if (at_start && staged.shifted) continue;
    if (staged.tensor.per_head) {
      rows = load_head_values(staged, line);
      continue;
    }
    const int count = std::min(parameters_.per_thread, ChannelThreads::widest(staged.tensor));
    for (int row = 0; row < staged.tensor.own_rows(); ++row) {
      const Value place = row_place(staged, line, row);
      auto& channels = rows.emplace_back();
      for (int first = 0; first < parameters_.per_thread; first += count)
        for (const Value value : b_.load_vector(fmt::format("{}_{}", staged.tensor.name, row),
                                                staged.shared[place + first], count))
          channels.push_back(value);
    }
  }
  return values;
}

StreamRing::Rows StreamRing::load_step(Value t) {
  Rows values;
  for (const Staged& staged : staged_) {
    auto& rows = values.emplace_back();
    const KernelTensor& from = staged.tensor;
    const Value own = staged.base + b_.wide(threads_.here().lane_channel);
    for (int row = 0; row < from.rows; ++row) {
      auto& channels = rows.emplace_back();
      const std::string name = fmt::format("{}_{}", from.name, row);
      for (int channel = 0; channel < parameters_.per_thread; ++channel)
        channels.push_back(b_.variable(name, b_.real(0)));
      threads_.if_all({staged.shifted ? t >= 1 : Value{}}, [&] {
        const Value place =
            own + b_.wide(staged.shifted ? t - 1 : t) * from.stride_t + std::int64_t{row} * threads_.dim();
        for (int channel = 0; channel < parameters_.per_thread; ++channel)
          b_.assign(channels[at(channel)],
                    b_.load(name, from.memory[place + static_cast<std::int64_t>(channel)]));
      });
    }
  }
  return values;
}

StreamRing::Rows StreamRing::load_guarded(Value line, Value exists, const std::function<Value()>& after) {
  Rows values;
  for (const Staged& staged : staged_) {
    auto& rows = values.emplace_back();
    for (int row = 0; row < staged.tensor.rows; ++row) {
      const Value place = row_place(staged, line, row);
      const std::string name = fmt::format("{}_{}", staged.tensor.name, row);
      const Value there = staged.shifted ? exists && after() : exists;
      auto& channels = rows.emplace_back();
      for (int channel = 0; channel < parameters_.per_thread; ++channel) {
        const Value value = b_.variable(name, b_.real(0));
        b_.if_(there, [&] { b_.assign(value, b_.load(name, staged.shared[place + channel])); });
        channels.push_back(value);
      }
    }
  }
  return values;
}

}  // namespace rondo::schedule
