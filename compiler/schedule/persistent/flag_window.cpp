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
  const Value row = places_.row(tile, places_.quarter * 2 + places_.group / 4), step_1 = b.constant(1);
  for (const int odd : {0, 1}) {
    const Value step = min(own_step(step_1, odd), places_.steps - 1);
    begun.places.push_back(b.variable("resets_at", reader_.place(tensor, row, places_.time(step))));
    begun.bytes.push_back(b.variable("coming_reset", zero));
  }
  load(tensor, begun, step_1);
  return begun;
}

Value FlagWindow::own_step(Value first_step, int odd) const {
  return first_step + places_.group % 4 * 2 + odd;
}

// A place moves on only within the walk. So a byte for a step past its end is that of a step before, which is
// there to be read, and no step looks at it.
void FlagWindow::load(step::TensorId tensor, Tile& tile, Value first_step) const {
  kernel::Builder& b = *first_step.builder();
  for (const int odd : {0, 1}) {
    const Value& place = tile.places[at(odd)];
    b.assign(tile.bytes[at(odd)], reader_.load_at(tensor, place));
    b.if_(own_step(first_step + kSteps, odd) < places_.steps,
          [&] { b.assign(place, place + to_next_.at(tensor)); });
  }
}

// Of a window: bit 4g + q of a vote is that of lane 4g + q.
Value FlagWindow::of_quarter(const std::vector<Value>& bytes) const {
  kernel::Builder& b = *bytes[0].builder();
  const auto votes = [&](const char* name, Value byte) {
    return b.ballot(name, b.constant(0) < byte) >> places_.quarter & kOfQuarter;
  };
  const Value even = votes("even_resets", bytes[0]), odd = votes("odd_resets", bytes[1]);
  return even | odd << b.constant(2);
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
      b.assign(tile.window, tile.window >> b.constant(2));
    }
}

Value FlagWindow::value(step::TensorId tensor, int row, Value t, bool ahead) const {
  if (reader_.is_length(tensor)) return reader_.value(tensor, lengths_.at(tensor)[at(row)], t);
  const Tile& tile = resets_.at(tensor)[at(row / 2)];
  return reader_.value(tensor, (ahead ? tile.next : tile.now) & of_row(row), t);
}

}  // namespace rondo::schedule
