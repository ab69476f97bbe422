#include "compiler/schedule/persistent/flag_window.h"

#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;

void FlagWindow::begin(kernel::Builder& b) {
  const Value zero = b.constant(0);
  for (const step::TensorId tensor : reader_.tensors())
    for (int i = 0; i < places_.batch_tiles; ++i) {
      if (reader_.is_length(tensor)) {
        for (const int row : {2 * i, 2 * i + 1})
          lengths_[tensor].push_back(reader_.load(tensor, b.let("flag_row", places_.row(row)), zero));
        continue;
      }
      Tile tile;
      for (const int row : {2 * i, 2 * i + 1}) tile.bytes.push_back(load(tensor, row, zero));
      tile.window = b.variable("reset_window", word(tile));
      for (const int row : {0, 1})
        tile.bytes[at(row)] = b.variable("coming_resets", load(tensor, 2 * i + row, b.constant(kSteps)));
      tile.next = b.variable("next_resets", of_step(tile, zero));
      resets_[tensor].push_back(tile);
    }
}

Value FlagWindow::load(step::TensorId tensor, int row, Value first_step) const {
  return reader_.load(tensor, places_.row(row), places_.time(first_step + places_.group));
}

Value FlagWindow::word(const Tile& tile) {
  kernel::Builder& b = *tile.bytes[0].builder();
  const auto bit = [&](int row) {
    return b.select(tile.bytes[at(row)] == 0, b.constant(0), b.constant(row + 1));
  };
  return bit(0) + bit(1);
}

Value FlagWindow::of_step(const Tile& tile, Value count) const {
  kernel::Builder& b = *count.builder();
  return b.shuffle("resets_of_step", tile.window, kernel::ShuffleMode::Index,
                   count % kSteps * 4 + places_.quarter);
}

void FlagWindow::advance(Value done) {
  kernel::Builder& b = *done.builder();
  for (auto& [tensor, tiles] : resets_) {
    for (Tile& tile : tiles) tile.now = b.let("resets_now", tile.next);
    const Value next = b.let("next_step", done + 1);
    b.if_(next % kSteps == 0, [&, id = tensor, &of = tiles] {
      for (std::size_t i = 0; i < of.size(); ++i) {
        b.assign(of[i].window, word(of[i]));
        for (const int row : {0, 1})
          b.assign(of[i].bytes[at(row)], load(id, 2 * static_cast<int>(i) + row, next + kSteps));
      }
    });
    for (Tile& tile : tiles) b.assign(tile.next, of_step(tile, next));
  }
}

Value FlagWindow::value(step::TensorId tensor, int row, Value t, bool ahead) const {
  if (reader_.is_length(tensor)) return reader_.value(tensor, lengths_.at(tensor)[at(row)], t);
  const Tile& tile = resets_.at(tensor)[at(row / 2)];
  const Value word = ahead ? tile.next : tile.now;
  return reader_.value(tensor, row % 2 == 0 ? word % 2 : word / 2, t);
}

}  // namespace rondo::schedule
