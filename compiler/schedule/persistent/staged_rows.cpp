#include "compiler/schedule/persistent/staged_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/lower/copy_vector.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

int StagedRows::add(TensorRef ref, bool shifted) {
  const PersistentGeometry& g = geometry_;
  Staged staged;
  staged.tensor = threads_.signature().reads(ref);
  staged.shifted = shifted;
  const bool per_head = staged.tensor.per_head;
  const int rows = staged.tensor.rows, pitch = elements_of(staged).pitch();
  std::string shape = fmt::format(
      "[stages {}, steps {}, {}rows {}, batch {}", g.p.stages, g.p.steps,
      g.p.tiles_in_turn == 1 ? "" : fmt::format("tiles in turn {}, ", g.p.tiles_in_turn), rows, g.turn_batch);
  if (!per_head) shape += fmt::format(", units {} + {}", g.units, pitch - g.units);
  staged.shared =
      b_.shared(staged.tensor.name + (shifted ? "_before" : "_staged"), staged.tensor.storage,
                std::int64_t{g.p.stages} * g.p.steps * rows * g.batch * (per_head ? 1 : pitch), shape + "]");
  staged_.push_back(staged);
  return static_cast<int>(staged_.size()) - 1;
}

bool StagedRows::has_head_values() const {
  return std::ranges::any_of(
      staged_, [](const Staged& s) { return s.tensor.per_head && s.tensor.ref.role != Role::Scratch; });
}

bool StagedRows::has_scratch_head_values() const {
  return std::ranges::any_of(
      staged_, [](const Staged& s) { return s.tensor.per_head && s.tensor.ref.role == Role::Scratch; });
}

void StagedRows::clear() {
  b_.comment("zeros where no input lies");
  for (const Staged& staged : staged_) {
    const ChipElements& elements = elements_of(staged);
    const int of_vector = 4 * elements.per_word();
    const std::int64_t vectors = b_.kernel().shared[at(staged.shared.id())].elements / of_vector;
    b_.for_("i", b_.thread(), b_.constant(vectors), b_.constant(geometry_.threads()), 1, [&](Value i) {
      elements.store(staged.shared[i * of_vector], std::vector<Value>(4, elements.zero()));
    });
  }
  b_.barrier();
}

void StagedRows::stage(Value first, Value count, Value slot) {
  for (const Staged& staged : staged_)
    staged.tensor.per_head ? stage_head_values(staged, first, count, slot)
                           : stage_rows(staged, first, count, slot);
}

Value StagedRows::producer() {
  return b_.thread() - b_.named("kFirstProducer", geometry_.first_producer_thread(), "first staging thread");
}

// A lane keeps to one place of a step, so that walking from step to step costs it one addition.
void StagedRows::stage_rows(const Staged& staged, Value first, Value count, Value slot) {
  const PersistentGeometry& g = geometry_;
  const PersistentThreads::Places& here = threads_.here();
  const KernelTensor& tensor = staged.tensor;
  const int per_row = g.units / g.p.vector;
  const int places = tensor.rows * g.batch * per_row;
  const int pitch = elements_of(staged).pitch();
  const std::int64_t line = std::int64_t{tensor.rows} * g.batch * pitch;
  b_.comment("stage " + tensor.name);
  const Value start = producer();
  b_.for_("place", start, b_.constant(places), b_.constant(32 * g.p.producer_warps), 1, [&](Value place) {
    const Value column = b_.let("column", place % per_row * g.p.vector);
    const Value batch = b_.let("batch_place", place / per_row % g.turn_batch);
    const Value line_row = b_.let("row", place / (per_row * g.turn_batch));  // counts [tile in turn][row]
    const auto [block_row, row] = threads_.row_of_block(line_row, batch, tensor.rows);
    Value exists = here.first_row + block_row < here.batch;
    if (!g.exact()) exists = exists && here.first_unit + column < b_.named("kDim", threads_.dim());
    b_.if_(exists, [&] {
      Value t = threads_.time_of(first);
      if (staged.shifted || !threads_.forward()) t = b_.let("t", staged.shifted ? t - 1 : t);
      const Value from =
          b_.variable("from", threads_.base(tensor, here.first_row + block_row) +
                                  b_.wide(t) * tensor.stride_t + b_.wide(row * threads_.dim() + column));
      const Value to =
          b_.variable("to", slot * (g.p.steps * line) + (line_row * g.turn_batch + batch) * pitch + column);
      b_.for_("s", b_.constant(0), count, b_.constant(1), std::min(4, g.p.steps), [&](Value s) {
        const auto copy = [&] { copy_vector(staged.shared, to, tensor, from, g.p.vector); };
        staged.shifted ? b_.if_((threads_.forward() ? t + s : t - s) >= 0, copy) : copy();
        b_.assign(from, threads_.next(tensor, from));
        b_.assign(to, to + line);
      });
    });
  });
}

// One value a thread and turn, those of a step one after the other.
void StagedRows::stage_head_values(const Staged& staged, Value first, Value count, Value slot) {
  const PersistentGeometry& g = geometry_;
  const PersistentThreads::Places& here = threads_.here();
  const KernelTensor& tensor = staged.tensor;
  const std::int64_t line = std::int64_t{tensor.rows} * g.batch;
  b_.comment("stage " + tensor.name);
  const Value start = producer();
  b_.for_("place", start, count * line, b_.constant(32 * g.p.producer_warps), 1, [&](Value place) {
    const auto [block_row, row] = threads_.row_of_block(
        place / g.turn_batch % (tensor.rows * g.p.tiles_in_turn), place % g.turn_batch, tensor.rows);
    const Value batch = b_.let("batch_row", here.first_row + block_row);
    const Value now = threads_.time_of(first + place / line);
    const Value t = b_.let("t", staged.shifted ? now - 1 : now);
    b_.if_(staged.shifted ? batch < here.batch && t >= 0 : batch < here.batch, [&] {
      copy_vector(staged.shared, slot * (g.p.steps * line) + place, tensor,
                  threads_.base(tensor, batch) + b_.wide(t) * tensor.stride_t + b_.wide(row), 1);
    });
  });
}

void StagedRows::declare_registers() {
  const PersistentGeometry& g = geometry_;
  for (Staged& staged : staged_) {
    const ChipElements& elements = elements_of(staged);
    const int units = staged.tensor.per_head ? 1 : g.p.unit_blocks;
    staged.registers =
        b_.array(staged.tensor.name + (staged.shifted ? "_before_now" : "_now"), elements.type(),
                 staged.tensor.rows * g.p.batch_tiles * units * elements.pair_words());
  }
}

void StagedRows::load(Value line) {
  for (const Staged& staged : staged_)
    if (staged.tensor.per_head)
      load_head_values(staged, line);
    else
      elements_of(staged).load_staged(staged.registers, staged.tensor.name, staged.shared, staged.tensor.rows,
                                      line);
}

// All lanes of a quarter read one pair.
void StagedRows::load_head_values(const Staged& staged, Value line) {
  const PersistentGeometry& g = geometry_;
  const ChipElements& elements = elements_of(staged);
  const int words = elements.pair_words();
  for (int pair = 0; pair < staged.tensor.rows * g.p.batch_tiles; ++pair) {
    const Value place = line * (staged.tensor.rows * g.turn_batch) + (threads_.here().quarter * 2 + pair * 8);
    const std::vector<Value> loaded = elements.load("head_value", staged.shared[place], words);
    for (int i = 0; i < words; ++i) b_.write(staged.registers, b_.constant(pair * words + i), loaded[at(i)]);
  }
}

Value StagedRows::value(int staged, int row, int channel) const {
  const PersistentGeometry& g = geometry_;
  const Staged& from = staged_[at(staged)];
  const int tile = row * g.p.batch_tiles + g.tile_of(channel);
  const int pair = from.tensor.per_head ? tile : tile * g.p.unit_blocks + g.unit_of(channel);
  return elements_of(from).element(from.registers, pair, channel % 2 == 1);
}

}  // namespace rondo::schedule
