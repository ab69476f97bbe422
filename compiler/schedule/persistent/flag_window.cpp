#include "compiler/schedule/persistent/flag_window.h"

#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;

namespace {

// The bits that a vote has for one quarter, which is shifted to bit 0: every fourth.
constexpr std::int64_t kOfQuarter = 0x11111111;

}  // namespace

Value FlagWindow::row_of_quarter(int row) const {
  return places_.row(row / 2, places_.quarter * 2 + row % 2);
}

void FlagWindow::begin(kernel::Builder& b) {
  for (const step::TensorId tensor : reader_.tensors()) {
    if (reader_.is_length(tensor)) {
      for (int row = 0; row < 2 * places_.batch_tiles; ++row)
        lengths_[tensor].push_back(
            reader_.load(tensor, b.let("flag_row", row_of_quarter(row)), b.constant(0)));
      continue;
    }
    const Value steps = places_.time(b.constant(kSteps)) - places_.time(b.constant(0));
    to_next_[tensor] = b.let("to_next_window", b.wide(steps) * reader_.stride(tensor));
    for (int i = 0; i < places_.batch_tiles; ++i) resets_[tensor].push_back(begin_tile(b, tensor, i));
  }
}

FlagWindow::Tile FlagWindow::begin_tile(kernel::Builder& b, step::TensorId tensor, int tile) const {
  const Value zero = b.constant(0);
  const auto first = [&](int row) {
    const Value byte = reader_.load(tensor, row_of_quarter(2 * tile + row), places_.time(zero));
    return b.select(byte == 0, zero, b.constant(of_row(row)));
  };
  Tile begun;
  begun.next = b.variable("next_resets", first(0) + first(1));
  begun.window = b.variable("reset_window", zero);
  begun.bytes = {b.variable("coming_reset", zero), b.variable("coming_reset", zero)};
  const Value step = min(own_step(b.constant(1)), places_.steps - 1);
  const auto place = [&](int row) {
    return reader_.place(tensor, row_of_quarter(2 * tile + row), places_.time(step));
  };
  const Value first_row = b.let("resets_of_row", place(0));
  begun.to_second = b.let("to_second_row", place(1) - first_row);
  begun.place = b.variable("resets_at", first_row);
  load(tensor, begun, b.constant(1));
  return begun;
}

Value FlagWindow::own_step(Value first_step) const { return first_step + places_.group; }

// The place moves on only within the walk. So a byte for a step past its end is that of a step before, which
// is there to be read, and no step looks at it.
void FlagWindow::load(step::TensorId tensor, Tile& tile, Value first_step) const {
  kernel::Builder& b = *first_step.builder();
  b.assign(tile.bytes[0], reader_.load_at(tensor, tile.place));
  b.assign(tile.bytes[1], reader_.load_at(tensor, tile.place + tile.to_second));
  b.if_(own_step(first_step + kSteps) < places_.steps,
        [&] { b.assign(tile.place, tile.place + to_next_.at(tensor)); });
}

// Of a window: bit 4g + q of a vote is that of lane 4g + q. What a shift leaves of the sign is masked.
Value FlagWindow::of_quarter(const std::vector<Value>& bytes) const {
  kernel::Builder& b = *bytes[0].builder();
  const auto votes = [&](const char* name, Value byte) {
    return b.ballot(name, b.constant(0) < byte) >> places_.quarter & kOfQuarter;
  };
  const Value first = votes("resets_of_first", bytes[0]), second = votes("resets_of_second", bytes[1]);
  return first | second << b.constant(1);
}

void FlagWindow::begin_stage(Value first, int steps) {
  kernel::Builder& b = *first.builder();
  const auto turn = [&] {
    for (auto& [tensor, tiles] : resets_)
      for (Tile& tile : tiles) {
        b.assign(tile.window, of_quarter(tile.bytes));
        load(tensor, tile, first + (kSteps + 1));
      }
  };
  if (resets_.empty()) return;
  if (steps % kSteps == 0) return turn();
  b.if_(first % kSteps == 0, turn);
}

void FlagWindow::advance(kernel::Builder& b) {
  for (auto& [tensor, tiles] : resets_)
    for (Tile& tile : tiles) {
      tile.now = b.let("resets_now", tile.next);
      b.assign(tile.next, tile.window);
      b.assign(tile.window, tile.window >> b.constant(4));
    }
}

Value FlagWindow::value(step::TensorId tensor, int row, Value t, bool ahead) const {
  if (reader_.is_length(tensor)) return reader_.value(tensor, lengths_.at(tensor)[at(row)], t);
  const Tile& tile = resets_.at(tensor)[at(row / 2)];
  return reader_.value(tensor, (ahead ? tile.next : tile.now) & of_row(row), t);
}

}  // namespace rondo::schedule
